// The board on the page: draws what Python sends, takes clicks and keys, and measures the time they took.
// It knows no rules: which card is free, what a button says and what a message teaches all come from Python.
// One module, no imports: a widget's module is loaded from a text, where relative imports lead nowhere.

/**
 * @typedef {"c" | "d" | "h" | "s"} Suit
 * @typedef {"mouse" | "touch" | "keyboard"} Input
 *
 * A card as Python describes it. `open`: a tap chooses it; otherwise a tap is at once a try. `alone`: it goes alone.
 * @typedef {{card: string, rank: string, suit: Suit, value: number, name: string, open: boolean, exposed: boolean,
 *   alone: boolean, row: number, column: number, prompt: string, chosen: string}} CardView
 * @typedef {{label: string, caption: string, left: number, card: CardView | null}} PileView
 * `sure`: what the button and the board say after a first press, where only a second one acts.
 * @typedef {{action: string, label: string, name: string, enabled: boolean, why: string,
 *   sure?: {label: string, name: string, text: string} | null}} ActionView
 * @typedef {{name: string, label: string, value: string}} StatusView
 * @typedef {{name: string, label: string, value: boolean | string, choices: [string, string][]}} SettingView
 * @typedef {{guided: boolean, values: boolean, theme: string, contrast: string, four_colours: boolean,
 *   motion: string, undo_selection: boolean}} LookView
 *
 * One whole picture of the game. `timing` says from when the next response time runs: "shown" from this picture's
 * first painted frame, "select" from the next card chosen (the child is reading what was wrong), "keep" as before.
 * @typedef {{number: number, board: string, title: string, deal: string, target: number, rows: number,
 *   pyramid: CardView[], stock: PileView & {draw: ActionView, redeal: ActionView | null}, piles: PileView[],
 *   selected: string[], wrong: string[], hint: string[], message: string, tone: string, announce: string,
 *   status: StatusView[], actions: ActionView[], playing: boolean, started: boolean, paused: boolean,
 *   timing: "shown" | "select" | "keep", ask: "off" | "type" | "choose", answered: string,
 *   slip: boolean, clock: {ms: number, running: boolean} | null, look: LookView, settings: SettingView[],
 *   end: {title: string, lines: string[], won: boolean} | null}} View
 *
 * A line under the board, shown with one view, or with all if it has no number.
 * @typedef {{number: number | null, text: string, back?: number}} Notice
 *
 * What a click tells about time: milliseconds of this page's steady clock, never to be compared across pages.
 * @typedef {{start: "shown" | "select" | "reshown" | "none", t_shown: number | null, t_first: number | null,
 *   t_second: number | null, away_first_ms: number, away_second_ms: number, wall_shown: number | null,
 *   wall_second: number}} Times
 *
 * @typedef {{get(name: string): any, on(name: string, call: (...values: any[]) => void): void,
 *   off(name: string, call: (...values: any[]) => void): void, send(content: any): void}} Model
 *
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 */

/** Milliseconds within which a second tap on the same card, or a second press of a button, is one bounce. */
export const CARD_BOUNCE_MS = 150;
export const BUTTON_BOUNCE_MS = 400;
/** A wrong pair taken back within this time was a slip of the finger. */
export const SLIP_MS = 1500;
/** Without an answer: say so after the first, send again after the second, then less and less often. */
export const WAITING_MS = 2000;
export const RESEND_MS = 5000;
const RESEND_LONGEST_MS = 60000;
/** What a browser, and a page of a class, say when the line to the computer is back. */
const LINE_EVENTS = ["online", "pyramid-lab-line"];
/** Buttons that a double click presses once; others, such as draw and undo, may be meant twice in a row. */
const ONCE = new Set(["new", "restart", "hint", "finish", "pause", "resume", "redeal"]);
/** The student's time zone by name, for the log. */
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone ?? null;

const TEXTS = {
  waiting: "One moment. Python is still busy; your tap is noted.",
  lost:
    "This board has lost its Python. Everything up to your last answered move is saved. Run this cell again " +
    "(in a lesson page: load the page again) to go on.",
  waitAnswer: "Type a number first.",
  back: "Go back there",
};

/**
 * A number unique to this load of the page. `crypto.randomUUID` is missing where a class opens the lesson over plain
 * http, so the bytes are put together here.
 * @returns {string}
 */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * Messages on their way: numbered, kept until Python has answered, sent again when no answer comes.
 * @param {{page: string, send: (message: object) => void,
 *   later: (call: () => void, ms: number) => unknown, forget: (timer: any) => void,
 *   onLink: (link: "live" | "waiting" | "lost") => void}} world
 */
export function createOutbox({ page, send, later, forget, onLink }) {
  /** @type {Map<number, object>} */
  const waiting = new Map();
  let count = 0;
  let pause = RESEND_MS;
  /** @type {unknown} */
  let slow = null;
  /** @type {unknown} */
  let again = null;

  /** @param {object} message */
  function trySend(message) {
    try {
      send(message);
    } catch {
      // The widget's line to Python is closed (a restarted kernel, or a saved page without one).
      stopTimers();
      onLink("lost");
    }
  }
  function stopTimers() {
    if (slow !== null) forget(slow);
    if (again !== null) forget(again);
    slow = again = null;
  }
  function startTimers() {
    stopTimers();
    if (waiting.size === 0) return;
    slow = later(() => onLink("waiting"), WAITING_MS);
    again = later(() => {
      pause = Math.min(pause * 2, RESEND_LONGEST_MS);
      resend();
    }, pause);
  }
  function resend() {
    const messages = [...waiting.values()];
    startTimers();
    for (const message of messages) trySend(message);
  }
  return {
    /** @param {object} content @returns {number} */
    post(content) {
      count += 1;
      const message = { ...content, page, n: count };
      waiting.set(count, message);
      if (waiting.size === 1) startTimers();
      trySend(message);
      return count;
    },
    /** @param {number} n */
    answered(n) {
      waiting.delete(n);
      if (waiting.size === 0) {
        pause = RESEND_MS;
        stopTimers();
        onLink("live");
      }
    },
    resend,
    stop: stopTimers,
    get size() {
      return waiting.size;
    },
  };
}

/**
 * The stopwatch of one view of the board. Time away (hidden tab, lost focus, pause, scrolled out of sight) is taken out.
 * @param {{now: () => number, wall: () => number}} clocks
 */
export function createStopwatch({ now, wall }) {
  /** @type {Times["start"]} */
  let start = "none";
  /** @type {number | null} */
  let shown = null;
  /** @type {number | null} */
  let wallShown = null;
  /** @type {number | null} */
  let first = null;
  let awayAtShown = 0;
  let awayAtFirst = 0;
  let awayTotal = 0;
  /** @type {Map<string, number>} */
  const away = new Map();
  let awaySince = 0;

  /** @param {number} at */
  function awayUntil(at) {
    return awayTotal + (away.size > 0 ? Math.max(0, at - awaySince) : 0);
  }
  return {
    /**
     * A new position begins; its time runs once `painted` is called, or from the next card chosen.
     * @param {"shown" | "select" | "reshown"} mode
     */
    begin(mode) {
      start = mode;
      shown = first = wallShown = null;
    },
    /** The first frame with this position has been painted. */
    painted() {
      if ((start === "shown" || start === "reshown") && shown === null) {
        shown = now();
        wallShown = wall();
        awayAtShown = awayUntil(shown);
      }
    },
    /** @param {number} at time of the event that chose the first card */
    choose(at) {
      if (start === "select" && shown === null) {
        shown = at;
        wallShown = wall();
        awayAtShown = awayUntil(at);
      }
      first = at;
      awayAtFirst = awayUntil(at);
    },
    drop() {
      first = null;
      if (start === "select") shown = wallShown = null;
    },
    /** @param {string} why @param {number} at */
    leave(why, at) {
      if (away.size === 0) awaySince = at;
      if (!away.has(why)) away.set(why, at);
    },
    /** @param {string} why @param {number} at @returns {boolean} whether it had been left for that reason */
    comeBack(why, at) {
      if (!away.delete(why)) return false;
      if (away.size === 0) awayTotal += Math.max(0, at - awaySince);
      return true;
    },
    /**
     * @param {number} at time of the event that completed the try
     * @returns {Times}
     */
    read(at) {
      const total = awayUntil(at);
      return {
        start: shown === null ? (start === "select" ? "select" : "none") : start,
        t_shown: shown,
        t_first: first,
        t_second: at,
        away_first_ms: (first === null ? total : awayAtFirst) - awayAtShown,
        away_second_ms: first === null ? 0 : total - awayAtFirst,
        wall_shown: wallShown,
        wall_second: wall(),
      };
    },
    get away() {
      return away.size > 0;
    },
  };
}

/**
 * The index of the box that an arrow key leads to, or -1: the nearest one that way, as one walks along streets.
 * @param {Box} from
 * @param {Box[]} boxes
 * @param {"ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown"} key
 */
export function nearest(from, boxes, key) {
  const x = from.x + from.width / 2;
  const y = from.y + from.height / 2;
  let best = -1;
  let shortest = Infinity;
  boxes.forEach((box, index) => {
    const right = box.x + box.width / 2 - x;
    const down = box.y + box.height / 2 - y;
    const [ahead, aside] =
      key === "ArrowRight" ? [right, down] : key === "ArrowLeft" ? [-right, down] : key === "ArrowDown" ? [down, right] : [-down, right];
    if (ahead < 2) return;
    // A little weight breaks the tie between two cards, whatever parts of a pixel say: to the left below, to the right
    // above, so that down and up lead back. What lies more aside than ahead comes last: else the pyramid's slopes would
    // keep the keys from the stock and the waste.
    const far = Math.abs(aside) > ahead ? 1e6 : 0;
    const tie = key === "ArrowUp" ? -0.01 * right : key === "ArrowDown" ? 0.01 * right : 0;
    const distance = far + ahead + Math.abs(aside) + tie;
    if (distance < shortest - 1e-9) {
      shortest = distance;
      best = index;
    }
  });
  return best;
}

/**
 * Minutes and seconds for people: "0:07", "12:30".
 * @param {number} ms
 */
export function clockText(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// ---------------------------------------------------------------------------------------------------------------
// Drawing

/** Suits as paths around (0, 0), about 20 units high. @type {Record<Suit, string>} */
const SUITS = {
  h: "M0 10C-3.4 5.4-10.2 1.6-10.2-4.2-10.2-7.8-7.6-10-4.8-10-2.6-10-.9-8.7 0-6.8.9-8.7 2.6-10 4.8-10 7.6-10 10.2-7.8 10.2-4.2 10.2 1.6 3.4 5.4 0 10Z",
  d: "M0-11Q3.6-4.6 8.6 0 3.6 4.6 0 11-3.6 4.6-8.6 0-3.6-4.6 0-11Z",
  s: "M0-10.6C3.2-5.4 10-2 10 3.6 10 6.8 7.8 8.6 5.2 8.6 3.4 8.6 2 7.8 1.1 6.4 1.3 8.8 2 10 3.6 11H-3.6C-2 10-1.3 8.8-1.1 6.4-2 7.8-3.4 8.6-5.2 8.6-7.8 8.6-10 6.8-10 3.6-10-2-3.2-5.4 0-10.6Z",
  c: "M0-10.6A4.9 4.9 0 0 1 3.7-2.5 4.9 4.9 0 1 1 1.1 4.4C1.3 7.8 2 9.6 3.6 11H-3.6C-2 9.6-1.3 7.8-1.1 4.4A4.9 4.9 0 1 1-3.7-2.5 4.9 4.9 0 0 1 0-10.6Z",
};

/** Where the pips of a number card lie, on a card of 100 by 140, as far apart as their size asks. @type {Record<number, [number, number][]>} */
const PIPS = (() => {
  const left = 35;
  const right = 65;
  /** @type {[number, number][]} */
  const corners = [[left, 33], [right, 33], [left, 107], [right, 107]];
  /** @type {[number, number][]} */
  const eight = [...corners, [left, 58], [right, 58], [left, 82], [right, 82]];
  /** @type {[number, number][]} */
  const six = [...corners, [left, 70], [right, 70]];
  return {
    2: [[50, 33], [50, 107]],
    3: [[50, 33], [50, 70], [50, 107]],
    4: corners,
    5: [...corners, [50, 70]],
    6: six,
    7: [...six, [50, 51.5]],
    8: [...six, [50, 51.5], [50, 88.5]],
    9: [...eight, [50, 70]],
    10: [...eight, [50, 45], [50, 95]],
  };
})();

/** @param {number} count of pips on a card; the more there are, the smaller they must be to lie clear of each other */
function pipSize(count) {
  return count > 8 ? 15.5 : count > 6 ? 17.5 : 20;
}

/** Heads of the court cards, drawn in the upper half of a 100 by 140 card. @type {Record<number, string>} */
const COURT = {
  11: "M34 62V52Q34 38 50 38T66 52V62ZM60 40Q62 28 74 27 73 38 64 44ZM34 56H66",
  12: "M33 62V46L41 52 50 38 59 52 67 46V62ZM50 33.5a3 3 0 1 0 .1 0ZM33 41.500a2.500 2.500 0 1 0 .1 0ZM67 41.500a2.500 2.500 0 1 0 .1 0ZM33 57H67",
  13: "M31 62V42L41 51 47 38H53L59 51 69 42V62ZM50 27V38M45.500 31.500H54.500M31 57H69",
};

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {Element[]} children
 * @returns {SVGElement}
 */
function draw(tag, attributes = {}, children = []) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The numbers that follow a command of a path: across, down, a radius, or neither. @type {Record<string, string>} */
const FOLLOWS = { M: "xy", L: "xy", H: "x", V: "y", C: "xyxyxy", Q: "xyxy", A: "rr---xy", Z: "" };

/**
 * A path made larger and moved; a size below 0 turns it by half. A `transform` of its own for each sign would do the
 * same, but a browser then paints every sign of every card as a part by itself, whatever changes on the page.
 * @param {string} path @param {number} x @param {number} y @param {number} size
 */
export function placed(path, x, y, size) {
  let follows = "";
  let at = 0;
  let moved = 1;
  return path.replace(/[a-z]|-?\d*\.?\d+/gi, (part) => {
    const command = FOLLOWS[part.toUpperCase()];
    if (command !== undefined) {
      follows = command;
      at = 0;
      moved = part === part.toUpperCase() ? 1 : 0;
      return part;
    }
    const kind = follows[at++ % follows.length];
    const number = Number(part) * size;
    const value = { x: number + x * moved, y: number + y * moved, r: Math.abs(number) }[kind ?? ""] ?? Number(part);
    return ` ${Math.round(value * 100) / 100}`;
  });
}

/**
 * @param {Suit} suit @param {number} x @param {number} y @param {number} height of the sign
 * @param {boolean} [turned]
 */
function suitSign(suit, x, y, height, turned = false) {
  return placed(SUITS[suit], x, y, (turned ? -height : height) / 22);
}

/**
 * @param {string} text @param {number} x @param {number} y @param {number} size
 * @param {Record<string, string>} [more]
 */
function letter(text, x, y, size, more = {}) {
  const element = draw("text", { x: String(x), y: String(y), "font-size": String(size), "text-anchor": "middle", ...more });
  element.textContent = text;
  if (text.length > 1) {
    element.setAttribute("textLength", String(size * 1.02));
    element.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  return element;
}

/**
 * The face of a card: pips and small corners where there is room, a large corner where there is not.
 * @param {CardView} card
 */
function face(card) {
  const { rank, suit, value } = card;
  const rankSign = () => letter(rank, 13.5, 25, 24);
  const signs = [suitSign(suit, 13.5, 39, 16), suitSign(suit, 86.5, 101, 16, true)];
  /** @type {Element[]} */
  const middle = [];
  const pips = PIPS[value];
  const court = COURT[value];
  if (pips) signs.push(...pips.map(([x, y]) => suitSign(suit, x, y, pipSize(value), y > 70)));
  else if (court) {
    middle.push(
      draw("rect", { x: "25", y: "16", width: "50", height: "108", rx: "6", class: "pl-court-field" }),
      draw("path", { d: court + placed(court, 100, 140, -1), class: "pl-court" }),
      draw("path", { d: "M25 70H75", class: "pl-court-line" }),
    );
    signs.push(suitSign(suit, 35, 26, 12), suitSign(suit, 65, 114, 12, true));
  } else signs.push(suitSign(suit, 50, 70, 48));
  const fine = draw("g", { class: "pl-fine" }, [
    ...middle,
    draw("path", { d: signs.join("") }),
    rankSign(),
    draw("g", { transform: "rotate(180 50 70)" }, [rankSign()]),
  ]);
  const bold = draw("g", { class: "pl-bold" }, [
    letter(rank, 31, 54, 58),
    draw("path", { d: suitSign(suit, 76, 32, 34) + suitSign(suit, 50, 104, 46) }),
  ]);
  const number = draw("g", { class: "pl-value" }, [
    draw("rect", { x: "58", y: "4", width: "38", height: "28", rx: "8" }),
    letter(String(value), 77, 25, 21),
  ]);
  const court13 = value > 10 || value === 1;
  return draw("svg", { viewBox: "0 0 100 140", class: "pl-face", "aria-hidden": "true", focusable: "false" }, [
    fine,
    bold,
    ...(court13 ? [number] : []),
  ]);
}

/** Signs of the buttons, on 24 by 24. @type {Record<string, string>} */
const SIGNS = {
  hint: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.6 10.800c.7.6 1.100 1.300 1.100 2.200h5c0-.9.4-1.600 1.100-2.200A6 6 0 0 0 12 3Z",
  undo: "M8 5 4 9l4 4M4 9h9a6 6 0 0 1 0 12h-3",
  redo: "M16 5l4 4-4 4M20 9h-9a6 6 0 0 0 0 12h3",
  restart: "M5 5v5h5M5.600 10A7.500 7.500 0 1 1 4.700 14.500",
  new: "M9 7h9a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1ZM5 17V4a1 1 0 0 1 1-1h9M13.500 11v6M10.500 14h6",
  pause: "M9 5v14M15 5v14",
  resume: "M8 5l11 7-11 7Z",
  finish: "M6 21V4M6 5h11l-2.500 4L17 13H6",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.500v5M9 14.500v5",
  draw: "M5 12h13M13 6.500 18.500 12 13 17.500",
  redeal: "M5 5v5h5M5.600 10A7.500 7.500 0 1 1 4.700 14.500",
  slip: "M6 6l12 12M18 6 6 18",
};

/** @param {string} name */
function sign(name) {
  return draw("svg", { viewBox: "0 0 24 24", class: "pl-sign", "aria-hidden": "true", focusable: "false" }, [
    draw("path", { d: SIGNS[name] ?? "" }),
  ]);
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Write only what changes, so that a screen reader is not told the same thing twice. @param {Element} element @param {string} text */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {Element} element @param {string} name @param {string | null} value */
function mark(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** @param {HTMLElement} element @param {string} name @param {number} value */
function style(element, name, value) {
  if (element.style.getPropertyValue(name) !== String(value)) element.style.setProperty(name, String(value));
}

// ---------------------------------------------------------------------------------------------------------------
// One view of the board

/**
 * @param {Model} model
 * @param {HTMLElement} host
 * @param {{page: string, post: (content: object) => number, link: () => string,
 *   listen: (call: (link: string) => void) => () => void}} line the line to Python, shared by the views of one board
 */
function createView(model, host, line) {
  const viewId = newId();
  const watch = createStopwatch({ now: () => performance.now(), wall: () => Date.now() });
  /** @returns {View} */
  const sent = () => JSON.parse(model.get("view"));
  let view = sent();
  let shownNumber = -1;
  /** @type {string[]} */
  let selected = [];
  /** @type {Set<string>} cards of a try that is on its way */
  const pending = new Set();
  /** @type {Map<string, HTMLButtonElement>} */
  const cards = new Map();
  /** @type {Map<string, number>} */
  const lastTap = new Map();
  /** @type {{n: number, at: number} | null} */
  let lastTry = null;
  /** @type {Input} */
  let pointer = "mouse";
  /** @type {HTMLElement | null} */
  let roving = null;
  let settingsOpen = false;
  /** The action whose button was pressed once and waits for a second press, or "". */
  let sure = "";
  let clockShownAt = 0;
  /** @type {number | undefined} */
  let slipTimer;
  const bin = new AbortController();
  const on = { signal: bin.signal };

  // The frame of the board, made once -------------------------------------------------------------------------
  const title = make("span", { class: "pl-title" });
  const deal = make("span", { class: "pl-deal" });
  const head = make("div", { class: "pl-head" }, [title, deal]);
  const pyramid = make("div", { class: "pl-pyramid" });
  const status = make("dl", { class: "pl-status" });
  const drawButton = control("draw");
  const redealButton = control("redeal");
  const stockSlot = make("div", { class: "pl-slot" });
  const stockCaption = make("div", { class: "pl-caption" });
  const stock = make("div", { class: "pl-pile pl-stock" }, [stockSlot, stockCaption]);
  const piles = make("div", { class: "pl-piles" }, [stock]);
  const ended = make("div", { class: "pl-ended" });
  const end = make("div", { class: "pl-end", hidden: "" }, [ended]);
  const veil = make("div", { class: "pl-veil", hidden: "" });
  const table = make("div", { class: "pl-table" }, [piles, status, pyramid, end, veil]);
  const ask = make("form", { class: "pl-ask", hidden: "", autocomplete: "off" });
  const message = make("p", { class: "pl-message" });
  const slipButton = control("slip");
  say(slipButton, "Oops, a slip");
  slipButton.hidden = true;
  const messageLine = make("div", { class: "pl-message-line" }, [message, slipButton]);
  const noticed = make("span");
  const backButton = control("back");
  const notice = make("p", { class: "pl-notice", hidden: "" }, [noticed, backButton]);
  const controls = make("div", { class: "pl-controls" });
  const panel = make("div", { class: "pl-settings", hidden: "", role: "group", "aria-label": "Settings of this board" });
  const live = make("div", { class: "pl-live", role: "status", "aria-live": "polite", "aria-atomic": "true" });
  // Where this board is on the page, the picture that stands for it in a saved notebook need not be.
  const hideFallback = make("style");
  const root = make("div", { class: "pl-board", role: "group", "aria-label": "Pyramid board" }, [
    hideFallback, head, table, ask, messageLine, notice, controls, panel, live,
  ]);
  host.append(root);

  /** @param {string} action @returns {HTMLButtonElement} */
  function control(action) {
    const button = make("button", { type: "button", class: `pl-button pl-item pl-do-${action}`, "data-action": action, tabindex: "-1" });
    button.addEventListener("click", (event) => act(action, event), on);
    return button;
  }

  // Time ------------------------------------------------------------------------------------------------------
  /** @param {Event} event @returns {number} when the click happened, also if the page answers late */
  function when(event) {
    const now = performance.now();
    return event.timeStamp > 0 && event.timeStamp <= now ? event.timeStamp : now;
  }
  /** @param {Event} event @returns {Input} */
  function inputOf(event) {
    return event instanceof MouseEvent && event.detail > 0 ? pointer : "keyboard";
  }
  /**
   * @param {string} kind @param {Event | null} event @param {object} [more]
   * @returns {number}
   */
  function post(kind, event, more = {}) {
    const at = event ? when(event) : performance.now();
    return line.post({
      kind,
      view: viewId,
      number: view.number,
      times: watch.read(at),
      input: event ? inputOf(event) : null,
      trusted: event ? event.isTrusted : null,
      tz: ZONE,
      ...more,
    });
  }
  function awaitPaint() {
    const number = view.number;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (view.number === number && !bin.signal.aborted) watch.painted();
      }),
    );
  }
  /** @param {string} why @param {boolean} gone */
  function away(why, gone) {
    const at = performance.now();
    const before = watch.away;
    if (gone) watch.leave(why, at);
    else watch.comeBack(why, at);
    if (why !== "unseen" && why !== "pause" && before !== watch.away && view.started && view.playing && !view.paused) {
      post("away", null, { gone });
    }
  }
  document.addEventListener("visibilitychange", () => away("hidden", document.hidden), on);
  window.addEventListener("blur", () => away("blur", true), on);
  window.addEventListener("focus", () => away("blur", false), on);
  if (document.hidden) away("hidden", true);
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) away("unseen", !entry.isIntersecting);
  });
  seen.observe(root);

  // The page around the board, such as a class's, can rest the boards that are on it and let them go on.
  const rest = (/** @type {Event} */ event) => view.started && view.playing && !view.paused && act("pause", event);
  window.addEventListener("pyramid-lab-pause", rest, on);
  window.addEventListener("pyramid-lab-resume", (event) => view.paused && act("resume", event), on);

  // Choosing and trying ---------------------------------------------------------------------------------------
  /** @param {string} id @returns {CardView | undefined} */
  function cardOf(id) {
    return allCards(view).find((card) => card.card === id);
  }
  /** @param {string} id @param {Event} event */
  function tap(id, event) {
    const at = when(event);
    const bounced = at - (lastTap.get(id) ?? -Infinity) < CARD_BOUNCE_MS;
    lastTap.set(id, at);
    if (bounced) return;
    goOn();
    const card = cardOf(id);
    if (!card) return;
    if (view.paused) {
      act("resume", event);
      return;
    }
    if (view.slip && lastTry && view.wrong.at(-1) === id && at - lastTry.at <= SLIP_MS) {
      slip(event);
      return;
    }
    if (selected.includes(id)) {
      drop(`${card.rank} put back`);
      return;
    }
    if (selected.length === 0) {
      if (card.open && !card.alone) choose(card, at);
      else attempt([id], event);
      return;
    }
    if (view.ask !== "off" && view.answered !== selected[0]) {
      const first = cardOf(selected[0] ?? "");
      if (first && card.open && !card.alone && first.open) {
        // Another first card before the question is answered: the question moves to it.
        choose(card, at);
        return;
      }
    }
    attempt([...selected, id], event);
  }
  /** @param {CardView} card @param {number} at */
  function choose(card, at) {
    watch.choose(at);
    selected = [card.card];
    showWords();
    say(live, card.chosen);
    showMarks();
    showAsk();
  }
  /** @param {string} told */
  function drop(told) {
    if (selected.length === 0) return;
    watch.drop();
    selected = [];
    showWords();
    say(live, told);
    showMarks();
    showAsk();
  }
  /** @param {string[]} ids @param {Event} event */
  function attempt(ids, event) {
    for (const id of ids) pending.add(id);
    const n = post("try", event, { cards: ids });
    lastTry = { n, at: when(event) };
    selected = [];
    showMarks();
    showAsk();
  }
  /** @param {Event} event */
  function slip(event) {
    if (lastTry && when(event) - lastTry.at <= SLIP_MS) post("slip", event, { of: lastTry.n });
    lastTry = null;
  }
  /** @param {string} action @param {Event} event */
  function act(action, event) {
    const at = when(event);
    const quick = at - (lastTap.get(action) ?? -Infinity);
    lastTap.set(action, at);
    if (quick < BUTTON_BOUNCE_MS && ONCE.has(action)) return;
    const again = sure === action;
    goOn();
    if (action === "settings") {
      openSettings(!settingsOpen);
      return;
    }
    if (action === "slip") {
      slip(event);
      return;
    }
    const wanted = actionOf(action);
    if (wanted && !wanted.enabled) {
      say(message, wanted.why);
      mark(message, "data-tone", "calm");
      say(live, wanted.why);
      return;
    }
    if (action === "undo" && selected.length > 0 && view.look.undo_selection) {
      drop("Choice taken back");
      return;
    }
    if (wanted?.sure && !again) {
      sure = action;
      showControls();
      showWords();
      say(live, wanted.sure.text);
      return;
    }
    post(action, event);
  }
  /** The game that a first press would have ended goes on. */
  function goOn() {
    if (sure === "") return;
    sure = "";
    showControls();
    showWords();
  }
  /** @param {string} action @returns {ActionView | null | undefined} */
  function actionOf(action) {
    if (action === "draw") return view.stock.draw;
    if (action === "redeal") return view.stock.redeal;
    return view.actions.find((one) => one.action === action);
  }

  // Asking for the total --------------------------------------------------------------------------------------
  function showAsk() {
    const card = selected.length === 1 ? cardOf(selected[0] ?? "") : undefined;
    const asking = view.ask !== "off" && card && view.answered !== card.card && view.playing ? card : null;
    if (!asking) {
      if (!ask.hidden) {
        ask.hidden = true;
        if (ask.contains(document.activeElement)) focusOn(cards.get(card?.card ?? "") ?? null);
        ask.replaceChildren();
        ask.dataset.card = "";
      }
      return;
    }
    if (ask.dataset.card === asking.card) return;
    ask.dataset.card = asking.card;
    ask.hidden = false;
    const question = make("span", { class: "pl-question", id: `${viewId}-question` }, [`${asking.rank} + ? = ${view.target}`]);
    if (view.ask === "type") {
      const field = make("input", { type: "text", inputmode: "numeric", maxlength: "2", class: "pl-answer", "aria-labelledby": `${viewId}-question` });
      ask.replaceChildren(question, field, make("button", { type: "submit", class: "pl-button" }, ["OK"]));
      field.focus({ preventScroll: true });
    } else {
      const choices = Array.from({ length: view.target - 1 }, (_, at) => {
        const button = make("button", { type: "button", class: "pl-button pl-item pl-choice", "data-answer": String(at + 1), tabindex: "-1", "aria-label": `${asking.rank} and ${at + 1}` }, [String(at + 1)]);
        button.addEventListener("click", (event) => answer(asking, at + 1, event), on);
        return button;
      });
      ask.replaceChildren(question, ...choices);
      if (root.contains(document.activeElement)) focusOn(choices[0] ?? null);
    }
  }
  ask.addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      const field = ask.querySelector("input");
      const card = cardOf(ask.dataset.card ?? "");
      const given = Number(field?.value.trim() || NaN);
      if (!card || !Number.isInteger(given) || given < 0) {
        say(message, TEXTS.waitAnswer);
        return;
      }
      answer(card, given, event);
      if (field) field.value = "";
    },
    on,
  );
  /** @param {CardView} card @param {number} given @param {Event} event */
  function answer(card, given, event) {
    post("answer", event, { cards: [card.card], answer: given });
  }

  // Settings --------------------------------------------------------------------------------------------------
  /** @param {boolean} open */
  function openSettings(open) {
    settingsOpen = open;
    showSettings();
    mark(controls.querySelector("[data-action=settings]") ?? panel, "aria-expanded", String(open));
    if (open) /** @type {HTMLElement | null} */ (panel.querySelector("input, select"))?.focus();
  }
  function showSettings() {
    panel.hidden = !settingsOpen || view.settings.length === 0;
    if (panel.hidden) return;
    const made = view.settings.map((setting) => {
      if (typeof setting.value === "boolean") {
        const box = make("input", { type: "checkbox", "data-setting": setting.name });
        box.checked = setting.value;
        box.addEventListener("change", (event) => post("set", event, { name: setting.name, value: box.checked }), on);
        return make("label", { class: "pl-setting" }, [box, setting.label]);
      }
      const list = make("select", { "data-setting": setting.name }, setting.choices.map(([value, label]) => {
        const choice = make("option", { value }, [label]);
        choice.selected = value === setting.value;
        return choice;
      }));
      list.addEventListener("change", (event) => post("set", event, { name: setting.name, value: list.value }), on);
      return make("label", { class: "pl-setting" }, [setting.label, list]);
    });
    const focused = document.activeElement instanceof HTMLElement && panel.contains(document.activeElement) ? document.activeElement.dataset.setting : undefined;
    panel.replaceChildren(...made);
    if (focused) /** @type {HTMLElement | null} */ (panel.querySelector(`[data-setting="${focused}"]`))?.focus();
  }

  // Keys ------------------------------------------------------------------------------------------------------
  /** @returns {HTMLElement[]} what the arrow keys walk over */
  function items() {
    return /** @type {HTMLElement[]} */ ([...root.querySelectorAll(".pl-item")]).filter((item) => item.offsetParent !== null);
  }
  /** @param {HTMLElement | null} item */
  function setRoving(item) {
    if (item === roving) return;
    if (roving) roving.tabIndex = -1;
    roving = item;
    if (roving) roving.tabIndex = 0;
  }
  /** @param {HTMLElement | null} item */
  function focusOn(item) {
    if (!item) return;
    setRoving(item);
    item.focus({ preventScroll: true });
    item.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  }
  root.addEventListener(
    "focusin",
    (event) => {
      if (event.target instanceof HTMLElement && event.target.classList.contains("pl-item")) setRoving(event.target);
    },
    on,
  );
  root.addEventListener(
    "focusout",
    (event) => {
      if (event.target === actionButtons.get(sure)) goOn();
    },
    on,
  );
  root.addEventListener(
    "pointerdown",
    (event) => {
      pointer = event.pointerType === "touch" ? "touch" : "mouse";
    },
    { ...on, capture: true },
  );
  // At the window, before the page: Notebook 7 takes its shortcuts on the way down, where the root would come too late.
  window.addEventListener(
    "keydown",
    (event) => {
      const target = event.composedPath()[0];
      if (!(target instanceof Node) || !root.contains(target)) return;
      const { key } = event;
      const command = event.ctrlKey || event.metaKey;
      const typing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
      if (command && !event.altKey && !typing && /^[zy]$/i.test(key)) {
        event.preventDefault();
        event.stopPropagation();
        act(key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo", event);
        return;
      }
      // Combined keys belong to the page (save, zoom); everything else stays here, or the notebook would take it.
      if (command || event.altKey || /^F\d/.test(key)) return;
      event.stopPropagation();
      if (key === "Escape") {
        event.preventDefault();
        if (settingsOpen) {
          openSettings(false);
          focusOn(controls.querySelector("[data-action=settings]"));
        } else if (sure !== "") goOn();
        else if (view.slip && lastTry && when(event) - lastTry.at <= SLIP_MS) slip(event);
        else drop("Choice put back");
        return;
      }
      if (typing) return;
      if (key === "Enter" || key === " ") {
        if (event.repeat) event.preventDefault();
        return;
      }
      if (key === "ArrowLeft" || key === "ArrowRight" || key === "ArrowUp" || key === "ArrowDown") {
        event.preventDefault();
        const all = items().filter((item) => item !== roving);
        const from = roving?.getBoundingClientRect();
        if (from) focusOn(all[nearest(from, all.map((item) => item.getBoundingClientRect()), key)] ?? null);
        return;
      }
      if (key === "Home" || key === "End") {
        event.preventDefault();
        const own = view.pyramid.map((card) => cards.get(card.card));
        focusOn((key === "Home" ? own.at(0) : own.at(-1)) ?? null);
        return;
      }
      const letters = /** @type {Record<string, string>} */ ({ h: "hint", u: "undo", y: "redo", r: "redeal" });
      const lower = key.toLowerCase();
      if (event.repeat) return;
      if (lower === "d") act(redealButton.hidden ? "draw" : "redeal", event);
      else if (lower === "p") act(view.paused ? "resume" : "pause", event);
      else if (letters[lower] && actionOf(letters[lower])) act(letters[lower], event);
    },
    { ...on, capture: true },
  );

  // Showing ---------------------------------------------------------------------------------------------------
  /** @param {CardView} card @returns {HTMLButtonElement} */
  function cardButton(card) {
    const button = make("button", { type: "button", class: "pl-card pl-item", "data-card": card.card, "data-suit": card.suit, tabindex: "-1" });
    button.append(face(card), make("span", { class: "pl-badge", "aria-hidden": "true" }));
    button.addEventListener("click", (event) => tap(card.card, event), on);
    return button;
  }
  /** @param {View} one @returns {CardView[]} */
  function allCards(one) {
    const rest = [...one.piles.map((pile) => pile.card), one.stock.card];
    return [...one.pyramid, ...rest.filter((card) => card !== null)];
  }
  function showMarks() {
    for (const card of allCards(view)) {
      const button = cards.get(card.card);
      if (!button) continue;
      const chosen = selected.includes(card.card);
      const hinted = view.hint.includes(card.card);
      const wrong = view.wrong.includes(card.card);
      mark(button, "aria-pressed", String(chosen));
      mark(button, "data-state", chosen ? "selected" : wrong ? "wrong" : hinted ? "hinted" : card.exposed ? "exposed" : "covered");
      mark(button, "data-pending", pending.has(card.card) ? "" : null);
      mark(button, "aria-label", hinted ? `${card.name}, hint` : card.name);
      const badge = button.lastElementChild;
      if (badge) say(badge, chosen ? "✓" : wrong ? "✗" : hinted ? "?" : "");
    }
    for (const button of [drawButton, redealButton]) {
      mark(button, "data-hinted", view.hint.includes(button.dataset.action ?? "") ? "" : null);
    }
  }
  /** Gives the cards that are new. @returns {HTMLButtonElement[]} */
  function showCards() {
    const wanted = new Map(allCards(view).map((card) => [card.card, card]));
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    const focusedCard = focused && root.contains(focused) ? focused.dataset.card : undefined;
    const focusedBox = focusedCard && !wanted.has(focusedCard) ? focused?.getBoundingClientRect() : undefined;
    for (const [id, button] of cards) {
      if (wanted.has(id)) continue;
      button.remove();
      cards.delete(id);
    }
    /** @type {HTMLButtonElement[]} */
    const fresh = [];
    for (const card of wanted.values()) {
      if (cards.has(card.card)) continue;
      const button = cardButton(card);
      cards.set(card.card, button);
      fresh.push(button);
    }
    placeAll(pyramid, view.pyramid.map((card) => {
      const button = /** @type {HTMLButtonElement} */ (cards.get(card.card));
      style(button, "--row", card.row - 1);
      style(button, "--column", card.column - 1 - (card.row - 1) / 2);
      return button;
    }));
    showPiles();
    if (focusedBox) {
      const all = items().filter((item) => item.dataset.card);
      let best = all[0] ?? drawButton;
      let shortest = Infinity;
      for (const item of all) {
        const box = item.getBoundingClientRect();
        const covered = item.dataset.state === "covered" ? 1000 : 0;
        const distance = Math.hypot(box.x - focusedBox.x, box.y - focusedBox.y) + covered;
        if (distance < shortest) [best, shortest] = [item, distance];
      }
      focusOn(best);
    } else if (!roving || !root.contains(roving) || roving.closest("[hidden]")) {
      const start = view.pyramid.find((card) => card.exposed) ?? view.pyramid[0];
      setRoving(cards.get(start?.card ?? "") ?? drawButton);
    }
    return fresh;
  }
  /** @param {Element} parent @param {Element[]} children */
  function placeAll(parent, children) {
    children.forEach((child, at) => {
      if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
    });
  }
  function showPiles() {
    const { stock: pile } = view;
    mark(stockSlot, "data-depth", String(Math.min(3, Math.ceil(pile.left / 8))));
    showAction(drawButton, pile.draw);
    redealButton.hidden = !pile.redeal;
    drawButton.hidden = !!pile.redeal;
    if (pile.redeal) showAction(redealButton, pile.redeal);
    const own = pile.card ? cards.get(pile.card.card) : undefined;
    const button = pile.redeal ? redealButton : drawButton;
    mark(stock, "data-open", pile.card ? "" : null);
    placeAll(stockSlot, own ? [own] : []);
    // With its top card in play the stock is a card, and the button to turn it stands below.
    if (own) {
      if (drawButton.parentElement !== stock) stock.append(drawButton, redealButton);
    } else if (drawButton.parentElement !== stockSlot) stockSlot.append(drawButton, redealButton);
    mark(button, "data-back", own ? null : pile.left > 0 ? "full" : "empty");
    say(stockCaption, pile.caption);
    view.piles.forEach((one, at) => {
      let box = piles.children[at + 1];
      if (!box) {
        box = make("div", { class: "pl-pile pl-waste" }, [make("div", { class: "pl-slot" }), make("div", { class: "pl-caption" })]);
        piles.append(box);
      }
      const [slot, caption] = box.children;
      if (!slot || !caption) return;
      mark(slot, "data-depth", String(Math.min(3, Math.ceil((one.left - 1) / 8))));
      const top = one.card ? cards.get(one.card.card) : undefined;
      if (slot.firstElementChild !== (top ?? null)) slot.replaceChildren(...(top ? [top] : []));
      say(caption, one.caption);
    });
  }
  /** @param {HTMLButtonElement} button @param {ActionView} action */
  function showAction(button, action) {
    if (button.dataset.label !== action.label) {
      button.dataset.label = action.label;
      button.replaceChildren(sign(action.action), make("span", { class: "pl-label" }, [action.label]));
    }
    mark(button, "aria-label", action.name);
    mark(button, "aria-disabled", action.enabled ? null : "true");
  }
  /** @type {Map<string, HTMLButtonElement>} */
  const actionButtons = new Map();
  function showControls() {
    const wanted = view.actions.map((action) => {
      let button = actionButtons.get(action.action);
      if (!button) actionButtons.set(action.action, (button = control(action.action)));
      const asked = action.action === sure ? action.sure : null;
      showAction(button, asked ? { ...action, ...asked } : action);
      mark(button, "data-sure", asked ? "" : null);
      if (action.action === "settings") mark(button, "aria-expanded", String(settingsOpen));
      return button;
    });
    for (const [name, button] of actionButtons) {
      if (!wanted.includes(button)) {
        button.remove();
        actionButtons.delete(name);
      }
    }
    placeAll(controls, wanted);
  }
  /** The line under the table: a question that waits, else the chosen card's, else what Python says. */
  function showWords() {
    const asked = sure === "" ? null : actionOf(sure)?.sure;
    const card = selected.length === 1 ? cardOf(selected[0] ?? "") : undefined;
    say(message, asked ? asked.text : (card?.prompt ?? view.message));
    mark(message, "data-tone", asked || card ? "calm" : view.tone);
  }
  function showStatus() {
    const lines = view.clock ? [...view.status, { name: "clock", label: "Time", value: "" }] : view.status;
    const shown = [...status.children];
    if (shown.length !== lines.length || lines.some((one, at) => shown[at]?.getAttribute("data-status") !== one.name)) {
      status.replaceChildren(...lines.map((one) =>
        make("div", { "data-status": one.name }, [make("dt"), make("dd", one.name === "clock" ? { class: "pl-clock" } : {})]),
      ));
    }
    lines.forEach((one, at) => {
      const [label, value] = status.children[at]?.children ?? [];
      if (label) say(label, one.label);
      if (value && one.name !== "clock") say(value, one.value);
    });
    status.hidden = lines.length === 0;
    clockShownAt = performance.now();
    showClock();
  }
  function showClock() {
    const face = status.querySelector(".pl-clock");
    if (!face || !view.clock) return;
    const more = view.clock.running && !watch.away ? performance.now() - clockShownAt : 0;
    say(face, clockText(view.clock.ms + more));
  }
  const ticking = window.setInterval(showClock, 1000);

  function showEnd() {
    end.hidden = !view.end;
    if (!view.end) return;
    // The rows from which all cards are gone have room for the words; the stock lies beside the upper two.
    const lowest = Math.max(2, ...view.pyramid.map((card) => card.row));
    style(end, "--free", Math.max(0, view.rows - lowest));
    ended.replaceChildren(make("strong", {}, [view.end.title]), ...view.end.lines.map((text) => make("span", {}, [text])));
  }
  function showLook() {
    const { look } = view;
    const lab = document.body.dataset.jpThemeLight;
    const dark = look.theme === "auto" ? (lab ? lab === "false" : matchMedia("(prefers-color-scheme: dark)").matches) : look.theme === "dark";
    mark(root, "data-theme", dark ? "dark" : "light");
    mark(root, "data-contrast", look.contrast === "more" || (look.contrast === "auto" && matchMedia("(prefers-contrast: more)").matches) ? "more" : null);
    mark(root, "data-guided", look.guided ? "" : null);
    mark(root, "data-values", look.values ? "" : null);
    mark(root, "data-four-colours", look.four_colours ? "" : null);
    mark(root, "data-many-piles", view.piles.length > 1 ? "" : null);
    mark(root, "data-playing", view.playing ? "" : null);
    style(root, "--rows", view.rows);
  }
  const themes = new MutationObserver(showLook);
  themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showLook, on);

  function showLink() {
    const link = line.link();
    const told = /** @type {Notice | undefined} */ (model.get("notice"));
    const text = link === "live" ? (told?.text && (told.number === null || told.number === view.number) ? told.text : "") : link === "waiting" ? TEXTS.waiting : TEXTS.lost;
    mark(root, "data-link", link);
    notice.hidden = text === "";
    if (text !== "" && noticed.textContent !== text) say(live, text);
    say(noticed, text);
    const back = link === "live" && text !== "" && (told?.back ?? 0) > 0;
    if (!back && document.activeElement === backButton) focusOn(drawButton);
    backButton.hidden = !back;
    say(backButton, back ? TEXTS.back : "");
    if (link === "live") return;
    if (link === "lost") {
      pending.clear();
      showMarks();
    }
  }
  const unlisten = line.listen((link) => {
    if (link === "live" && pending.size > 0) {
      pending.clear();
      showMarks();
    }
    showLink();
  });

  function update() {
    const before = shownNumber < 0 ? null : view;
    view = sent();
    if (view.number === shownNumber && before !== null) return;
    shownNumber = view.number;
    pending.clear();
    sure = "";
    if (before === null) watch.begin(view.started ? "reshown" : "shown");
    else if (view.timing !== "keep") watch.begin(view.timing);
    const kept = view.timing === "keep" && before !== null ? selected.filter((id) => cardOf(id)) : null;
    selected = kept && kept.length > 0 ? kept : view.selected.slice();
    // Places are read before the first change: later each would have the whole page laid out once more.
    const moving = before !== null && moves();
    const gone = moving ? leaving() : [];
    const ways = moving && view.stock.left < before.stock.left ? waysFromStock() : [];
    // Only if it changes: a new style sheet makes the browser look at the style of everything on the page.
    say(hideFallback, `.pl-fallback[data-board="${view.board}"]{display:none}`);
    root.dataset.view = String(view.number);
    say(title, view.title);
    say(deal, view.deal);
    showLook();
    const fresh = showCards();
    showMarks();
    showControls();
    showStatus();
    showSettings();
    showEnd();
    showAsk();
    veil.hidden = !view.paused;
    say(veil, view.paused ? "Paused. Press the resume button to go on." : "");
    away("pause", view.paused);
    say(message, view.message);
    mark(message, "data-tone", view.tone);
    window.clearTimeout(slipTimer);
    slipButton.hidden = !(view.slip && lastTry);
    if (!slipButton.hidden && lastTry) {
      slipTimer = window.setTimeout(() => {
        if (document.activeElement === slipButton) focusOn(cards.get(view.wrong.at(-1) ?? "") ?? drawButton);
        slipButton.hidden = true;
      }, Math.max(0, SLIP_MS - (performance.now() - lastTry.at)));
    }
    if (view.announce) say(live, view.announce);
    showLink();
    table.append(...gone);
    if (moving) for (const button of fresh) arrive(button, ways[wastes().findIndex((slot) => slot.contains(button))]);
    // Where a page is lower than the board, the words at the end may stand out of sight.
    if (before !== null && view.end && !before.end) requestAnimationFrame(() => end.scrollIntoView({ block: "nearest" }));
    awaitPaint();
  }

  // Motion: only cards that leave or arrive, above the position, which can be played all the while -----------------
  function moves() {
    return view.look.motion !== "off" && !matchMedia("(prefers-reduced-motion: reduce)").matches && !document.hidden;
  }
  /** Pictures of the cards that are not in the view any more, at the places where they still lie. */
  function leaving() {
    const kept = new Set(allCards(view).map((card) => card.card));
    const frame = table.getBoundingClientRect();
    return [...cards].flatMap(([id, button]) => (kept.has(id) ? [] : [ghostOf(button, frame)]));
  }
  /** @param {HTMLButtonElement} button @param {DOMRect} frame */
  function ghostOf(button, frame) {
    const from = button.getBoundingClientRect();
    const ghost = make("div", { class: "pl-ghost", "aria-hidden": "true", "data-suit": button.dataset.suit ?? "" });
    const picture = button.firstElementChild?.cloneNode(true);
    if (picture) ghost.append(picture);
    Object.assign(ghost.style, { left: `${from.x - frame.x}px`, top: `${from.y - frame.y}px`, width: `${from.width}px`, height: `${from.height}px` });
    const flight = ghost.animate(
      [{ opacity: 0.9 }, { opacity: 0, transform: "translateY(-18%) scale(1.05)" }],
      { duration: 180, easing: "ease-out" },
    );
    flight.onfinish = flight.oncancel = () => ghost.remove();
    return ghost;
  }
  function wastes() {
    return [...piles.querySelectorAll(".pl-waste .pl-slot")];
  }
  /** From each waste pile to where its cards come from. */
  function waysFromStock() {
    const from = stockSlot.getBoundingClientRect();
    return wastes().map((slot) => {
      const to = slot.getBoundingClientRect();
      return `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
    });
  }
  /** @param {HTMLButtonElement} button @param {string} [way] where it comes from, if it was turned */
  function arrive(button, way) {
    if (way) button.animate([{ transform: way }, { transform: "none" }], { duration: 140, easing: "ease-out" });
    else button.animate([{ opacity: 0.2 }, { opacity: 1 }], { duration: 140 });
  }

  model.on("change:view", update);
  model.on("change:notice", showLink);
  update();
  return () => {
    model.off("change:view", update);
    model.off("change:notice", showLink);
    unlisten();
    bin.abort();
    seen.disconnect();
    themes.disconnect();
    window.clearInterval(ticking);
    window.clearTimeout(slipTimer);
    root.remove();
  };
}

// ---------------------------------------------------------------------------------------------------------------

export default () => {
  // One board's line to Python, shared by its views; a page that is loaded again begins a new one.
  const page = newId();
  /** @type {Set<(link: string) => void>} */
  const listeners = new Set();
  let link = "live";
  /** @type {ReturnType<typeof createOutbox> | null} */
  let outbox = null;

  return {
    /** @param {{model: Model}} context */
    initialize({ model }) {
      const box = createOutbox({
        page,
        send: (message) => model.send(message),
        later: (call, ms) => window.setTimeout(call, ms),
        forget: (timer) => window.clearTimeout(timer),
        onLink: (now) => {
          link = now;
          for (const call of [...listeners]) call(now);
        },
      });
      outbox = box;
      /** @param {{kind?: string, page?: string, n?: number}} content */
      const heard = (content) => {
        if (content.kind === "ack" && content.page === page && typeof content.n === "number") box.answered(content.n);
      };
      const back = () => box.resend();
      model.on("msg:custom", heard);
      model.on("comm_live_update", back);
      // A click that was lost with the Wi-Fi goes again at once, not when its pause is over.
      for (const event of LINE_EVENTS) window.addEventListener(event, back);
      return () => {
        for (const event of LINE_EVENTS) window.removeEventListener(event, back);
        model.off("msg:custom", heard);
        model.off("comm_live_update", back);
        box.stop();
      };
    },
    /** @param {{model: Model, el: HTMLElement}} context */
    render({ model, el }) {
      return createView(model, el, {
        page,
        post: (content) => outbox?.post(content) ?? 0,
        link: () => link,
        listen: (call) => {
          listeners.add(call);
          return () => listeners.delete(call);
        },
      });
    },
  };
};
