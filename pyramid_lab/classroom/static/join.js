// @ts-check
// The QR code carries the number behind the #, which stays in the browser: fill it in, then forget it.
const code = /** @type {HTMLInputElement} */ (document.getElementById("code"));
const form = /** @type {HTMLFormElement} */ (document.getElementById("join"));
const scanned = location.hash.slice(1).replace(/[^0-9]/g, "");
if (scanned) {
  history.replaceState(null, "", location.pathname);
  code.value = scanned;
  form.requestSubmit();
}

const words = document.getElementById("wait");
const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
let left = Number(form.dataset.wait);
if (words && left > 1) {
  button.disabled = true;
  const timer = setInterval(() => {
    left -= 1;
    words.textContent = left > 0 ? `You can try again in ${left} seconds.` : "You can try again now.";
    if (left <= 0) {
      clearInterval(timer);
      button.disabled = false;
    }
  }, 1000);
}
