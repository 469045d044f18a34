"use strict";
// The form of a document: tries it while one types, as the button "Prüfen" does, and puts in place what came of it. What
// somebody is typing in stays as it is.
(() => {
  const form = document.querySelector("[data-rechnet] form");
  const said = () => new URLSearchParams(new FormData(form)).toString();
  let timer = 0;

  function replace(fresh) {
    const old = document.getElementById(fresh.id);
    if (!old) form.querySelector("fieldset.row:last-of-type")?.after(fresh);
    else if (!old.contains(document.activeElement)) old.replaceWith(fresh);
    else fresh.querySelectorAll("[data-rechnet-teil]").forEach(replace);
    // Whoever is in a field reads what is meant there once they leave it.
    const typed = document.activeElement, meant = form.elements[`${typed?.name}_text`];
    if (meant) meant.dataset.typed = typed.value;
  }

  async function compute() {
    const sent = said();
    try {
      const answer = await fetch(location.href, {
        method: "POST",
        redirect: "error",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: `${sent}&schritt=pruefen`,
      });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      // Whoever typed on meanwhile is asked about again.
      if (said() !== sent) return;
      page.querySelectorAll("fieldset.row, .head [data-rechnet-teil], #summe").forEach(replace);
    } catch {
      // The button does it.
    }
  }

  form.addEventListener("focusout", ({ target }) => {
    const meant = form.elements[`${target.name}_text`];
    if (meant?.dataset.typed === target.value) target.value = meant.value;
  });
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(compute, 400);
  });
})();
