// The parts of board.js that need no page: the outbox, the stopwatch, the arrow keys. Run with: node --test
import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

globalThis.crypto ??= webcrypto; // browsers have it, and Node from version 20 on

// As the notebook does it: the module is loaded from its text.
const source = await readFile(new URL("../../pyramid_lab/board/board.js", import.meta.url));
const board = await import(`data:text/javascript;base64,${source.toString("base64")}`);

/** A clock that is turned by hand, with the timers that hang on it. */
function handClock() {
  let time = 0;
  let timers = [];
  return {
    now: () => time,
    later: (call, ms) => {
      const timer = { call, at: time + ms };
      timers.push(timer);
      return timer;
    },
    forget: (timer) => {
      timers = timers.filter((one) => one !== timer);
    },
    turn(ms) {
      const end = time + ms;
      for (;;) {
        const next = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        time = next.at;
        timers = timers.filter((one) => one !== next);
        next.call();
      }
      time = end;
    },
  };
}

function outboxWith(send) {
  const clock = handClock();
  const links = [];
  const outbox = board.createOutbox({ page: "page", send, later: clock.later, forget: clock.forget, onLink: (link) => links.push(link) });
  return { clock, links, outbox };
}

test("the widget's module gives a function, and no render by name", () => {
  assert.equal(typeof board.default, "function");
  assert.equal(board.render, undefined);
  const { initialize, render } = board.default();
  assert.equal(typeof initialize, "function");
  assert.equal(typeof render, "function");
});

test("ids are version 4 UUIDs and differ", () => {
  const ids = Array.from({ length: 100 }, board.newId);
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(ids).size, 100);
});

test("messages are numbered and kept until they are answered", () => {
  const sent = [];
  const { outbox } = outboxWith((message) => sent.push(message));
  assert.equal(outbox.post({ kind: "draw" }), 1);
  assert.equal(outbox.post({ kind: "undo" }), 2);
  assert.deepEqual(sent, [{ kind: "draw", page: "page", n: 1 }, { kind: "undo", page: "page", n: 2 }]);
  assert.equal(outbox.size, 2);
  outbox.answered(1);
  outbox.answered(1);
  assert.equal(outbox.size, 1);
});

test("without an answer the page says so, sends again with longer pauses, and stops when it comes", () => {
  const sent = [];
  const { clock, links, outbox } = outboxWith((message) => sent.push(message.n));
  outbox.post({ kind: "draw" });
  clock.turn(1999);
  assert.deepEqual(links, []);
  clock.turn(2);
  assert.deepEqual(links, ["waiting"]);
  clock.turn(3000);
  assert.deepEqual(sent, [1, 1]);
  clock.turn(9000);
  assert.deepEqual(sent, [1, 1]);
  clock.turn(2000);
  assert.deepEqual(sent, [1, 1, 1]);
  outbox.answered(1);
  assert.equal(links.at(-1), "live");
  clock.turn(600_000);
  assert.deepEqual(sent, [1, 1, 1]);
});

test("a closed line is told, and what waits goes out in order when it opens again", () => {
  let open = false;
  const sent = [];
  const { links, outbox } = outboxWith((message) => {
    if (!open) throw new Error("Cannot send");
    sent.push(message.n);
  });
  outbox.post({ kind: "draw" });
  outbox.post({ kind: "draw" });
  assert.equal(links.at(-1), "lost");
  open = true;
  outbox.resend();
  assert.deepEqual(sent, [1, 2]);
});

function watchWith() {
  const clock = handClock();
  const watch = board.createStopwatch({ now: clock.now, wall: () => 1_000_000 + clock.now() });
  return { clock, watch };
}

test("a pair is timed from the first painted frame", () => {
  const { clock, watch } = watchWith();
  watch.begin("shown");
  clock.turn(40);
  watch.painted();
  clock.turn(800);
  watch.choose(clock.now());
  clock.turn(500);
  const times = watch.read(clock.now());
  assert.deepEqual(times, {
    start: "shown", t_shown: 40, t_first: 840, t_second: 1340, away_first_ms: 0, away_second_ms: 0, wall_shown: 1_000_040, wall_second: 1_001_340,
  });
});

test("a click before the first painted frame has no start", () => {
  const { clock, watch } = watchWith();
  watch.begin("shown");
  clock.turn(5);
  const times = watch.read(clock.now());
  assert.equal(times.start, "none");
  assert.equal(times.t_shown, null);
});

test("time away is counted once, however many reasons there are, and on the right side of the first card", () => {
  const { clock, watch } = watchWith();
  watch.begin("shown");
  watch.painted();
  clock.turn(100);
  watch.leave("hidden", clock.now());
  watch.leave("blur", clock.now());
  clock.turn(5000);
  watch.comeBack("hidden", clock.now());
  clock.turn(1000);
  watch.comeBack("blur", clock.now());
  clock.turn(300);
  watch.choose(clock.now());
  watch.leave("pause", clock.now());
  clock.turn(200);
  watch.comeBack("pause", clock.now());
  clock.turn(400);
  const times = watch.read(clock.now());
  assert.equal(times.away_first_ms, 6000);
  assert.equal(times.away_second_ms, 200);
  assert.equal(times.t_second - times.t_shown - times.away_first_ms - times.away_second_ms, 800);
});

test("a position that appears while the page is away starts with no time away behind it", () => {
  const { clock, watch } = watchWith();
  watch.leave("hidden", clock.now());
  clock.turn(10_000);
  watch.comeBack("hidden", clock.now());
  watch.begin("shown");
  watch.painted();
  clock.turn(700);
  assert.equal(watch.read(clock.now()).away_first_ms, 0);
});

test("after a mistake the time starts with the next card chosen", () => {
  const { clock, watch } = watchWith();
  watch.begin("select");
  watch.painted();
  clock.turn(9000);
  watch.choose(clock.now());
  clock.turn(600);
  const times = watch.read(clock.now());
  assert.equal(times.start, "select");
  assert.equal(times.t_shown, 9000);
  assert.equal(times.t_second, 9600);
});

test("after a mistake a card alone has no time, and a card put back starts nothing", () => {
  const { clock, watch } = watchWith();
  watch.begin("select");
  clock.turn(100);
  watch.choose(clock.now());
  watch.drop();
  clock.turn(100);
  const times = watch.read(clock.now());
  assert.equal(times.start, "select");
  assert.equal(times.t_shown, null);
});

// Cards of 50 by 70 in a pyramid of three rows, the rows 44 apart.
const place = (row, column) => ({ x: 100 + 52 * (column - row / 2), y: 44 * row, width: 50, height: 70 });
const pyramid = [place(0, 0), place(1, 0), place(1, 1), place(2, 0), place(2, 1), place(2, 2)];

/** @param {number} from @param {string} key */
function step(from, key) {
  const others = pyramid.map((_, at) => at).filter((at) => at !== from);
  const found = board.nearest(pyramid[from], others.map((at) => pyramid[at]), key);
  return found < 0 ? -1 : others[found];
}

test("the card to the left below is the next one down, whatever parts of a pixel say", () => {
  for (const shift of [-0.03, 0, 0.03]) {
    const below = [{ ...place(1, 0), x: place(1, 0).x + shift }, place(1, 1)];
    assert.equal(board.nearest(place(0, 0), below, "ArrowDown"), 0);
    assert.equal(board.nearest(place(2, 1), below, "ArrowUp"), 1);
  }
});

test("arrow keys walk the pyramid along its rows and back up the way they came down", () => {
  assert.equal(step(0, "ArrowDown"), 1);
  assert.equal(step(1, "ArrowDown"), 3);
  assert.equal(step(3, "ArrowRight"), 4);
  assert.equal(step(4, "ArrowRight"), 5);
  assert.equal(step(5, "ArrowRight"), -1);
  assert.equal(step(5, "ArrowUp"), 2);
  assert.equal(step(1, "ArrowUp"), 0);
  assert.equal(step(4, "ArrowUp"), 2);
  assert.equal(step(2, "ArrowDown"), 4);
});

test("an arrow key never stays on the card and never leads the wrong way", () => {
  for (let from = 0; from < pyramid.length; from += 1) {
    for (const [key, forward] of [["ArrowLeft", (a, b) => b.x < a.x], ["ArrowRight", (a, b) => b.x > a.x], ["ArrowUp", (a, b) => b.y < a.y], ["ArrowDown", (a, b) => b.y > a.y]]) {
      const to = step(from, key);
      if (to >= 0) assert.ok(forward(pyramid[from], pyramid[to]), `${from} ${key} ${to}`);
    }
  }
});

test("the clock's text", () => {
  assert.deepEqual([-5, 0, 7000, 59_999, 60_000, 754_000].map(board.clockText), ["0:00", "0:00", "0:07", "0:59", "1:00", "12:34"]);
});

test("a path is made larger and moved as a translation and a scale would do it", () => {
  const path = "M1 2H3V4L5 6Q-1-2.5.5 0C0 0 1 1-1 1A1 2 0 0 1 2 2a1 1 0 1 0 .1 0Z";
  const made = board.placed(path, 10, 20, -2);
  const parts = made.match(/[A-Za-z]|[-.\d]+/g).join(" ");
  assert.equal(
    parts,
    "M 8 16 H 4 V 12 L 0 8 Q 12 25 9 20 C 10 20 8 18 12 18 A 2 4 0 0 1 6 16 a 2 2 0 1 0 -0.2 0 Z",
  );
});
