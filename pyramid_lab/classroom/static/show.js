// @ts-check
// A new number, a new QR code, or the end: load the page again.
const shown = /** @type {HTMLElement} */ (document.getElementById("show")).dataset.code;
new EventSource("/tutor/live").onmessage = (event) => {
  const view = JSON.parse(event.data);
  if ((view.state === "ended" ? "" : view.code) !== shown) location.reload();
};
