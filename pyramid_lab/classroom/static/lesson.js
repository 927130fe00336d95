// @ts-check
// The class around a lesson: whose page this is, the tutor's pauses and lessons, and what to do when the line breaks.

const LATE_MS = 4000;
const RELOAD_PAUSE_MS = 10000;
const LINE_EVERY_MS = 5000;
// The class computer says something at least every 4 s.
const SILENT_MS = 10000;
// Time for several tries at a new line: a page that starts again forgets the click that waits on it.
const NO_LINE_MS = 40000;
// Time for the boards of a page to come.
const SETTLED_MS = 15000;

/** @param {string} tag @param {string} className @param {string} [text] */
function make(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  if (text) element.textContent = text;
  return element;
}

/** @param {string} name */
function cookie(name) {
  return document.cookie.split("; ").find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}

// The bar: name and picture as text, and a way out. Built here, so that no name is ever part of the page's own HTML.
const bar = make("header", "pl-bar");
const who = make("span", "pl-who");
who.dir = "auto";
const leave = /** @type {HTMLFormElement} */ (make("form", ""));
leave.method = "post";
leave.action = "/leave";
const token = document.createElement("input");
token.type = "hidden";
token.name = "_xsrf";
token.value = cookie("_xsrf");
leave.append(token, make("button", "", "Leave"));
bar.append(who, leave);
document.body.prepend(bar);
fetch("/class/me").then((answer) => answer.json()).then((me) => {
  who.textContent = me.name;
  who.title = me.picture;
});

const line = make("p", "pl-news");
line.setAttribute("role", "status");
line.hidden = true;
document.body.append(line);

const cover = /** @type {HTMLDialogElement} */ (make("dialog", "pl-over"));
const coverText = make("p", "");
const coverButton = make("button", "");
coverButton.addEventListener("click", () => location.reload());
cover.append(coverText, coverButton);
cover.addEventListener("cancel", (event) => event.preventDefault());
document.body.append(cover);

/** @param {string} text @param {string} [button] what the button that loads the page again says; without it, none */
function showCover(text, button = "") {
  coverText.textContent = text;
  coverButton.textContent = button;
  coverButton.hidden = !button;
  if (!cover.open) cover.showModal();
}

// Where the lesson failed. One sentence is enough, however many cells followed.
const [trouble, ...more] = document.querySelectorAll(".pl-trouble");
for (const one of more) one.remove();
trouble?.querySelector("button")?.addEventListener("click", () => location.reload());

// A page that lost its kernel starts again; not more often than every few seconds, whatever goes wrong.
function startAgain() {
  const last = Number(sessionStorage.getItem("pl-reloaded") ?? 0);
  const wait = Math.max(0, last + RELOAD_PAUSE_MS - Date.now());
  setTimeout(() => {
    sessionStorage.setItem("pl-reloaded", String(Date.now()));
    location.reload();
  }, Math.min(wait, RELOAD_PAUSE_MS));
}

/** @type {{kernelId?: string}} */
let config = {};
/** The kernel of this page; its id is in the page once Voila has started it. */
function myKernel() {
  if (!config.kernelId) {
    try {
      config = JSON.parse(document.getElementById("jupyter-config-data")?.textContent ?? "{}");
    } catch {
      // The page is still arriving.
    }
  }
  return config.kernelId;
}

/** @type {number | null} */
let lesson = null;
let paused = false;
let going = false;

// A page that is loaded again opens where the child was. What stands above comes bit by bit, so the place is taken again
// whenever the page has grown, until the child moves. What scrolls is Voila's box, which no browser brings back.
const box = document.getElementById("rendered_cells");
addEventListener("pagehide", () => {
  if (lesson !== null && box) sessionStorage.setItem("pl-place", JSON.stringify([lesson, box.scrollTop]));
});
leave.addEventListener("submit", () => {
  going = true;
  lesson = null;
  sessionStorage.removeItem("pl-place");
});
/** @param {number} now the lesson of this page */
function goToPlace(now) {
  const [before, place] = JSON.parse(sessionStorage.getItem("pl-place") ?? "[]");
  if (before !== now || !box?.firstElementChild) return;
  const growing = new ResizeObserver(() => box.scrollTo(0, place));
  growing.observe(box);
  growing.observe(box.firstElementChild);
  const stay = () => growing.disconnect();
  for (const kind of ["pointerdown", "wheel", "keydown"]) addEventListener(kind, stay, { once: true });
  setTimeout(stay, SETTLED_MS);
}

/** @param {{page: string, state: string, lesson: number, kernel: string | null}} news */
function hear(news) {
  if (going) return;
  if (news.page !== "/play") {
    going = true;
    location.assign(news.page);
    return;
  }
  if (lesson !== null && news.lesson !== lesson) {
    going = true;
    location.reload();
    return;
  }
  if (lesson === null) goToPlace(news.lesson);
  lesson = news.lesson;
  const mine = myKernel();
  if (document.readyState === "complete" && mine && news.kernel !== mine) {
    if (news.kernel) {
      showCover("Your game is open in another window.", "Play here");
    } else if (trouble) {
      // Starting again by itself would go round and round.
      showCover("Something went wrong. Your game is kept.", "Load this page again");
    } else {
      going = true;
      startAgain();
    }
    return;
  }
  if (paused !== (news.state === "paused")) {
    paused = news.state === "paused";
    tellBoard();
    if (paused) showCover("Pause. Look at your tutor.");
    else if (cover.open) cover.close();
  }
}

// The board stops its clock and writes the pause down. While the class rests it is told again and again, since a board
// may come after the news.
function tellBoard() {
  window.dispatchEvent(new CustomEvent(paused ? "pyramid-lab-pause" : "pyramid-lab-resume"));
}
setInterval(() => paused && tellBoard(), 1000);

// Left alone, the notebook tries again after a random time of up to half a minute; a child should not wait for that.
async function openLine() {
  const app = /** @type {{jupyterapp?: {widgetManagerPromise: {promise: Promise<{kernel: {reconnect(): Promise<void>}}>}}}} */ (
    /** @type {unknown} */ (window)
  ).jupyterapp;
  const manager = await app?.widgetManagerPromise.promise;
  try {
    await manager?.kernel.reconnect();
  } catch {
    return; // The class computer is away again, or the kernel is gone; the tries go on below.
  }
  dispatchEvent(new Event("pyramid-lab-line"));
}

/** @type {EventSource | undefined} */
let source;
let broken = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let late;
let heard = performance.now();
function isHere() {
  heard = performance.now();
  clearTimeout(late);
  late = undefined;
  line.hidden = true;
}
function isAway() {
  line.textContent = "Waiting for the class computer … Your game is kept.";
  line.hidden = false;
}
function listen() {
  source?.close();
  source = new EventSource("/class/live");
  source.onopen = () => {
    isHere();
    // A line that was cut may still look open here.
    if (broken) void openLine();
    broken = false;
  };
  source.onmessage = (event) => {
    isHere();
    hear(JSON.parse(event.data));
  };
  source.onerror = () => {
    broken = true;
    late ??= setTimeout(isAway, LATE_MS);
    if (source?.readyState === EventSource.CLOSED) setTimeout(listen, LATE_MS);
  };
}
listen();

// The class computer being there for long without a line to the kernel means that the page has to start again.
let withoutLine = 0;
setInterval(() => {
  // A computer that sleeps leaves its lines open.
  if (line.hidden && performance.now() - heard > SILENT_MS) isAway();
  const sockets = /** @type {{plSockets?: WebSocket[]}} */ (/** @type {unknown} */ (window)).plSockets ?? [];
  const alive = sockets.some((socket) => socket.readyState <= WebSocket.OPEN);
  const here = source?.readyState === EventSource.OPEN;
  withoutLine = sockets.length && !alive && here ? withoutLine + 1000 : 0;
  if (withoutLine >= NO_LINE_MS && !going) {
    going = true;
    startAgain();
  } else if (withoutLine && withoutLine % LINE_EVERY_MS === 0) {
    void openLine();
  }
}, 1000);
