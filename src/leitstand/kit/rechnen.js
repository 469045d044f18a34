"use strict";
// The form of a document: tries it while one types, as the button "Prüfen" does, and puts in place what came of it. What
// somebody is typing in stays as it is.
(() => {
  const form = document.querySelector("[data-rechnet] form");
  const said = () => new URLSearchParams(new FormData(form)).toString();
  let timer = 0;
  // The rows in which something was typed since it was last said what they come to; null: all, as their choices may differ.
  let typed = null;
  const rowOf = (field) => /^items\[(\d+)\]/.exec(field.name)?.[1];

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
    const refused = [...form.querySelectorAll('[aria-invalid="true"]')].map(rowOf);
    const rows = typed && `&zeilen=${[...new Set([...typed, ...refused])].filter(Boolean)}`;
    try {
      const answer = await fetch(location.href, {
        method: "POST",
        redirect: "error",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: `${sent}&schritt=pruefen${rows ?? ""}`,
      });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      // Whoever typed on meanwhile is asked about again.
      if (said() !== sent) return;
      page.querySelectorAll("fieldset.row, .outcome:not(fieldset *), .head [data-rechnet-teil], #summe").forEach(replace);
      // Of what was only found by then, it is not yet said what it comes to.
      if (!isAgain && said() !== sent) await compute(true);
      else typed = new Set();
    } catch {
      // The button does it.
    }
  }

  form.addEventListener("focusout", ({ target }) => {
    const meant = form.elements[`${target.name}_text`];
    if (meant && meant.dataset.typed === target.value) target.value = meant.value;
  });
  form.addEventListener("input", ({ target }) => {
    // The contracts in each row are those of the partner.
    if (target.name === "partner") typed = null;
    else typed?.add(rowOf(target));
    clearTimeout(timer);
    timer = setTimeout(() => compute(), 400);
  });
  // What follows from another document stands there already.
  if (form.elements.partner.value) compute();
})();
