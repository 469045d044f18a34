"use strict";
// Updates pages: waits until the company has changed, fetches the page again and replaces its content. Without
// this script the pages stay as they were loaded. Also: buttons that copy a text.
(() => {
  const shown = document.querySelector("[data-neues]");
  const pause = (ms) => new Promise((go) => setTimeout(go, ms));
  const seen = () => new Promise((go) => document.addEventListener("visibilitychange", go, { once: true }));

  async function load() {
    const answer = await fetch(location.href, { redirect: "error", headers: { "x-leitstand-live": "1" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("[data-neues]");
    const active = shown.contains(document.activeElement) ? document.activeElement : null;
    // Does not disturb a person who is in a field.
    if (!fresh || active?.matches("input, select")) return;
    const at = active?.getAttribute("href");
    shown.replaceChildren(...fresh.childNodes);
    shown.dataset.seit = fresh.dataset.seit;
    if (at) shown.querySelector(`a[href="${CSS.escape(at)}"]`)?.focus();
  }

  async function follow() {
    for (let wait = 1000; ; ) {
      if (document.hidden) await seen();
      try {
        const answer = await fetch(`${shown.dataset.neues}?seit=${shown.dataset.seit}`, { redirect: "manual" });
        // Logged out: the page itself redirects to the log-in.
        if (answer.type === "opaqueredirect") return location.reload();
        if (!answer.ok) throw new Error(String(answer.status));
        const newest = await answer.text();
        if (newest !== shown.dataset.seit) await load();
        wait = newest === shown.dataset.seit ? 1000 : 5000;
      } catch {
        wait = Math.min(wait * 2, 60000);
      }
      // At most one request a second, however much is written.
      await pause(wait);
    }
  }

  if (shown) follow();

  for (const button of document.querySelectorAll("[data-kopiere]")) {
    const text = document.getElementById(button.dataset.kopiere);
    button.hidden = false;
    button.addEventListener("click", async () => {
      getSelection().selectAllChildren(text);
      // Browsers only copy for pages loaded over TLS or from this machine.
      const isCopied = await navigator.clipboard?.writeText(text.textContent).then(() => true, () => false);
      button.nextElementSibling.textContent = isCopied ? "Kopiert." : "Markiert: jetzt mit Strg+C kopieren.";
    });
  }
})();
