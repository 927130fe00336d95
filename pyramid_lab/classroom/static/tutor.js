// @ts-check
/** @param {string} id */
const at = (id) => /** @type {any} */ (document.getElementById(id));

/** @param {string} order @param {string | number} [about] */
async function tell(order, about = "") {
  const body = new URLSearchParams({ do: order, about: String(about), _xsrf: at("xsrf").value });
  try {
    const answer = await fetch("/tutor/do", { method: "POST", body });
    if (!answer.ok) throw new Error(String(answer.status));
  } catch {
    at("notice").textContent = "That did not reach the class. Load this page again.";
    at("notice").hidden = false;
  }
}

/** @param {string} tag @param {string} text @param {string} [className] */
function make(tag, text, className) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

/** @param {string} text @param {() => void} act @param {string} [label] */
function button(text, act, label) {
  const element = make("button", text);
  element.addEventListener("click", act);
  if (label) element.setAttribute("aria-label", label);
  return element;
}

/** @typedef {{id: string, name: string, picture: string, twin: boolean}} Who */

/** Drawing and name; children of one name are told apart by what their pictures show, also in words. @param {Who} child */
function whole(child) {
  const parts = document.createDocumentFragment();
  const template = /** @type {HTMLTemplateElement | null} */ (document.querySelector(`template[data-student="${CSS.escape(child.id)}"]`));
  if (template) parts.append(template.content.cloneNode(true), " ");
  // What the words beside it say is not read twice.
  if (child.twin || child.name === child.picture) parts.querySelector("svg")?.setAttribute("aria-hidden", "true");
  parts.append(make("bdi", child.name));
  if (child.twin) parts.append(" ", make("span", `(${child.picture})`, "which"));
  return parts;
}

/** The same for a button's label. @param {Who} child */
const called = (child) => child.twin ? `${child.name} (${child.picture})` : child.name;

let paused = false;
let over = false;
let lesson = 0;
let shown = "";
at("pause").addEventListener("click", () => tell(paused ? "resume" : "pause"));
at("lesson").addEventListener("change", () => tell("lesson", at("lesson").value));
at("next").addEventListener("click", () => tell("lesson", lesson + 1));
at("new-code").addEventListener("click", () => tell("new-code"));
at("end").addEventListener("click", () => at("sure").showModal());
at("sure").addEventListener("close", () => at("sure").returnValue === "yes" && tell("end"));

/** @param {boolean} away */
function hears(away) {
  at("lost").hidden = over || !away;
  at("closed").hidden = !over || !away;
}

/** @param {any} view */
function show(view) {
  paused = view.state === "paused";
  lesson = view.lesson;
  over = view.state === "ended";
  at("code").textContent = view.code;
  at("pause").textContent = paused ? "Go on" : "Pause all";
  at("lesson").value = String(lesson);
  const gone = over && document.activeElement?.closest("#join, #orders, #asking, #children, #sure");
  at("over").hidden = !over;
  document.body.classList.toggle("over", over);
  if (over) at("sure").close();
  at("all-saved").hidden = !view.saved;
  for (const id of ["join", "orders"]) at(id).hidden = over;
  if (gone) at("over-title").focus();
  at("next").disabled = lesson + 1 >= at("lesson").options.length;
  at("count").textContent = over ? "" : `(${view.here} of ${view.children.length} here${paused ? "; paused" : ""})`;
  at("store").textContent = view.store;
  at("store").className = view.saved ? "" : "problem";
  at("door").textContent = view.door;

  // The tables are built anew only when they change, so that focus and reading are not disturbed.
  const news = JSON.stringify([over, view.children, view.asking, view.needs, view.facts]);
  if (news === shown) return;
  shown = news;
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.getAttribute("aria-label");
  at("asking").hidden = over || !view.asking.length;
  at("asking-list").replaceChildren(...view.asking.map((/** @type {any} */ child) => {
    const item = make("li", "");
    item.append(whole(child), " is playing, and another tablet wants this name. ",
      button("Let the new one in", () => tell("let-in", child.id), `Let the new tablet in as ${called(child)}`), " ",
      button("No", () => tell("refuse", child.id), `No new tablet for ${called(child)}`));
    return item;
  }));
  at("needs").replaceChildren(...(view.needs.length ? view.needs.map((/** @type {any} */ fact) => {
    const item = make("li", "");
    item.append(make("strong", fact.fact), `: ${fact.need} (${fact.tries} tries, ${fact.children} ${fact.children === 1 ? "child" : "children"} with a wrong one)`);
    return item;
  }) : [make("li", "Nothing stands out yet.")]));
  at("facts").replaceChildren(...view.facts.map((/** @type {any} */ fact) => {
    const row = make("tr", "");
    row.append(make("th", fact.fact), make("td", fact.tries, "number"), make("td", fact.wrong, "number"), make("td", fact.children, "number"),
      make("td", fact.median_ms === null ? "" : `${(fact.median_ms / 1000).toFixed(1)} s`, "number"));
    /** @type {HTMLElement} */ (row.firstChild).setAttribute("scope", "row");
    return row;
  }));
  at("children").replaceChildren(...view.children.map((/** @type {any} */ child) => {
    const row = make("tr", "");
    const name = make("th", "", "name");
    name.setAttribute("scope", "row");
    name.append(whole(child));
    const orders = make("td", "");
    if (!over && child.now !== "not here") orders.append(button("Send out", () => tell("send-out", child.id), `Send out ${called(child)}`));
    row.append(name, make("td", child.now), make("td", child.hand, "hand"), make("td", child.correct, "number"),
      make("td", child.wrong, "number"), make("td", child.games, "number"), orders);
    return row;
  }));
  if (focused) /** @type {HTMLElement | null} */ (document.querySelector(`[aria-label="${CSS.escape(focused)}"]`))?.focus();
}

const source = new EventSource("/tutor/live");
let heard = performance.now();
source.onmessage = (event) => {
  heard = performance.now();
  show(JSON.parse(event.data));
  hears(false);
};
source.onerror = () => hears(true);
// A server that stands still leaves its lines open.
setInterval(() => { if (performance.now() - heard > 10000) hears(true); }, 1000);
