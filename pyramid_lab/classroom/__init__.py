"""A whole class at once: lessons without code on every tablet, the tutor's live page, and logs brought together.

`pyramid-lab class` (:class:`pyramid_lab.classroom.app.ClassApp`) is Voila with a door: join codes, names, one kernel
for each child, and only widget messages through. The parts that decide something are plain Python without a clock or
a socket: :mod:`~pyramid_lab.classroom.codes`, :mod:`~pyramid_lab.classroom.register`,
:mod:`~pyramid_lab.classroom.watch`.
"""
