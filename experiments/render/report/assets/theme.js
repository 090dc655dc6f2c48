// Light or dark: the system's preference until the reader chooses, then the choice is kept.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const remember = (theme) => { try { localStorage.setItem("theme", theme); } catch { /* private window */ } };
  const remembered = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const current = () => root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const chosen = remembered();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = current() === "dark" ? "light" : "dark";
    remember(root.dataset.theme);
    say(`Now ${root.dataset.theme}.`);
  });

  // Mark the section in view in the contents, and name it beside their button.
  const contents = document.querySelector(".contents details");
  const here = document.querySelector(".contents .here");
  const links = new Map(all(".contents a").map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      const link = links.get(entry.target.id);
      link?.setAttribute("aria-current", "true");
      here.textContent = link?.textContent ?? "";
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  for (const id of links.keys()) {
    const section = document.getElementById(id);
    if (section) seen.observe(section);
  }
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".contents summary")) contents.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") contents.open = false;
  });
})();
