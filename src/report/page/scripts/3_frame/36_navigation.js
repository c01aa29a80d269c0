// The list of sections. It stays at the top of the window and shows which one is being read.

function fillNavigation(shown) {
  const links = shown.map((section) =>
    element("a", { href: `#${section.id}`, id: `to-${section.id}` }, section.short ?? section.title),
  );
  const top_ = element("a", { href: "#page-head", class: "to-top", "aria-label": "Top of the page" }, "↑");
  document.getElementById("page-nav").replaceChildren(element("div", { class: "links" }, top_, links));
  window.addEventListener("scroll", markCurrentSection, { passive: true });
  markCurrentSection();
}

// The last section that begins above the upper third of the window.
function markCurrentSection() {
  const nav = document.getElementById("page-nav");
  const begun = sections.filter(({ id }) => {
    const node = document.getElementById(id);
    return node && !node.hidden && node.getBoundingClientRect().top < window.innerHeight / 3;
  });
  const current = begun.at(-1)?.id;
  for (const link of nav.querySelectorAll("a")) {
    if (link.id === `to-${current}`) {
      if (link.getAttribute("aria-current")) continue;
      link.setAttribute("aria-current", "true");
      // Only the list itself scrolls, not the page.
      const row = link.parentElement;
      const middle = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
      row.scrollTo({ left: middle });
    } else {
      link.removeAttribute("aria-current");
    }
  }
}
