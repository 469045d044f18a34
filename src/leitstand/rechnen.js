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
    // What was meant stands in its field, once nobody is in there.
    for (const text of fresh.querySelectorAll('[name$="_text"]')) {
      const typed = form.elements[text.name.replace(/_text$/, "")];
      if (typed === document.activeElement) text.dataset.typed = typed.value;
      else typed.value = text.value;
    }
  }

  async function compute(isAgain = false) {
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
      // Of what was only found by then, it is not yet said what it comes to.
      if (!isAgain && said() !== sent) await compute(true);
    } catch {
      // The button does it.
    }
  }

  form.addEventListener("focusout", ({ target }) => {
    const meant = form.elements[`${target.name}_text`];
    if (meant && meant.dataset.typed === target.value) target.value = meant.value;
  });
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => compute(), 400);
  });
  // What follows from another document stands there already.
  if (form.elements.partner.value) compute();
})();
