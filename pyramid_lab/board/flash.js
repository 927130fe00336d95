// @ts-check
/**
 * A flash round on the page: one card at a time, and the numbers to answer with. Draws and times; knows no rules.
 *
 * @typedef {{label: string, name: string, red: boolean}} Prompt
 * @typedef {{value: number, label: string, name: string}} Answer
 * @typedef {{number: number, title: string, prompt: Prompt | null, answers: Answer[], message: string, tone: string,
 *   done: number, total: number, again: string}} View
 */

const KEYS = /** @type {Record<string, number>} */ ({ a: 1, t: 10, 0: 10, j: 11, q: 12 });

/** @param {string} tag @param {Record<string, string>} marks @param {(Node | string)[]} inside */
function make(tag, marks = {}, inside = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(marks)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const on = { signal: stop.signal };
  const title = make("p", { class: "pf-title" });
  const card = make("div", { class: "pf-card" });
  const question = make("p", { class: "pf-question" });
  const answers = make("div", { class: "pf-answers", role: "group", "aria-label": "Answers" });
  const message = make("p", { class: "pf-message", role: "status", "aria-live": "polite" });
  const root = make("div", { class: "pl-flash", role: "group", "aria-label": "Flash round" }, [title, card, question, answers, message]);
  el.append(root);

  let shown = /** @type {number | null} */ (null);
  let away = false;
  let pointer = "mouse";
  let sent = -1;

  /** @returns {View} */
  const view = () => model.get("view");

  function show() {
    const now = view();
    root.dataset.view = String(now.number);
    root.dataset.tone = now.tone;
    title.textContent = `${now.title} · ${now.done} of ${now.total}`;
    card.hidden = question.hidden = !now.prompt;
    if (now.prompt) {
      card.textContent = now.prompt.label;
      card.toggleAttribute("data-red", now.prompt.red);
      card.setAttribute("role", "img");
      card.setAttribute("aria-label", now.prompt.name);
      question.textContent = "What goes with it?";
    }
    message.textContent = now.message;
    if (now.again && !answers.querySelector("[data-action=again]")) {
      const again = make("button", { type: "button", class: "pf-button pf-again", "data-action": "again" }, [now.again]);
      again.addEventListener("click", () => send({ kind: "again" }), on);
      answers.replaceChildren(again);
      if (root.contains(document.activeElement) || document.activeElement === document.body) again.focus({ preventScroll: true });
    } else if (!now.again && answers.childElementCount !== now.answers.length) {
      answers.replaceChildren(...now.answers.map((answer) => {
        const button = make("button", { type: "button", class: "pf-button", "data-answer": String(answer.value), "aria-label": answer.name }, [answer.label]);
        button.addEventListener("click", (event) => choose(answer.value, event), on);
        return button;
      }));
    }
    shown = null;
    away = false;
    // A time is taken from the second frame: in the first one the card is drawn, in the second it can be seen.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      if (view().number === now.number) shown = performance.now();
    }));
  }

  /** @param {Record<string, unknown>} content */
  function send(content) {
    if (sent === view().number) return;
    try {
      model.send({ ...content, number: view().number });
      sent = view().number;
    } catch {
      message.textContent = "Python is not running. Run this cell again.";
    }
  }

  /** @param {number} value @param {Event} event */
  function choose(value, event) {
    const keyboard = event instanceof KeyboardEvent || (event instanceof MouseEvent && event.detail === 0 && event.isTrusted);
    const measured = shown !== null && !away;
    send({
      kind: "answer",
      value,
      rt_ms: measured ? Math.max(0, Math.round(event.timeStamp - /** @type {number} */ (shown))) : null,
      why: measured ? null : away ? "away" : "no_start",
      input: keyboard ? "keyboard" : pointer,
      tz: Intl.DateTimeFormat().resolvedOptions().timeZone ?? null,
    });
  }

  root.addEventListener("pointerdown", (event) => {
    pointer = event.pointerType === "touch" ? "touch" : "mouse";
  }, { ...on, capture: true });
  // At the window, before the page: notebooks take single letters as their shortcuts.
  window.addEventListener("keydown", (event) => {
    if (!(event.target instanceof Node) || !root.contains(event.composedPath()[0] instanceof Node ? /** @type {Node} */ (event.composedPath()[0]) : event.target)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab") return;
    event.stopPropagation();
    if (event.repeat) return;
    const key = event.key.toLowerCase();
    const value = KEYS[key] ?? (/^[2-9]$/.test(key) ? Number(key) : 0);
    if (view().answers.some((answer) => answer.value === value)) choose(value, event);
  }, { ...on, capture: true });
  document.addEventListener("visibilitychange", () => { if (document.hidden) away = true; }, on);
  window.addEventListener("blur", () => { away = true; }, on);

  model.on("change:view", show);
  show();
  return () => {
    stop.abort();
    model.off("change:view", show);
  };
}

export default { render };
