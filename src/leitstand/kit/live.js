"use strict";
// Pages that show what is new: waits until the company has changed, fetches the page again and puts its content in place.
// Without this the pages are as they were when they were loaded. And buttons that copy a text.
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
    // Whoever is in a field is not disturbed.
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
        // Logged out: the page itself leads to where one logs in.
        if (answer.type === "opaqueredirect") return location.reload();
        if (!answer.ok) throw new Error(String(answer.status));
        const newest = await answer.text();
        if (newest !== shown.dataset.seit) await load();
        wait = newest === shown.dataset.seit ? 1000 : 5000;
      } catch {
        wait = Math.min(wait * 2, 60000);
      }
      // At most one look a second, however much is written.
      await pause(wait);
    }
  }

  if (shown) follow();

  for (const button of document.querySelectorAll("[data-kopiere]")) {
    const text = document.getElementById(button.dataset.kopiere);
    button.hidden = false;
    button.addEventListener("click", async () => {
      getSelection().selectAllChildren(text);
      // Browsers copy only for pages that came by TLS, or from this machine.
      const isCopied = await navigator.clipboard?.writeText(text.textContent).then(() => true, () => false);
      button.nextElementSibling.textContent = isCopied ? "Kopiert." : "Markiert: jetzt mit Strg+C kopieren.";
    });
  }
})();
