// @ts-check
// A new number, a new QR code: load the page again.
const shown = /** @type {HTMLElement} */ (document.getElementById("show")).dataset.code;
new EventSource("/tutor/live").onmessage = (event) => {
  if (JSON.parse(event.data).code !== shown) location.reload();
};
