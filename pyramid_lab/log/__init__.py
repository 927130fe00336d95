"""What happened: the event record, the store that keeps it, the frames and exports made from it."""
