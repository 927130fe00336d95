// @ts-check
// The command line opens this page with the secret behind the #, which stays in the browser.
const secret = location.hash.slice(1);
if (secret) {
  history.replaceState(null, "", location.pathname);
  /** @type {HTMLInputElement} */ (document.getElementById("secret")).value = secret;
  /** @type {HTMLFormElement} */ (document.getElementById("door")).requestSubmit();
}
