// Sections of a page as tabs. Without this script they follow each other.

const tabs = { list: null, chosen: null };

function startTabs() {
  const sections = tabSections();
  if (sections.length < 2) return;
  tabs.list = document.createElement("div");
  tabs.list.setAttribute("role", "tablist");
  tabs.list.setAttribute("aria-label", "Views");
  tabs.list.className = "tabs";
  for (const section of sections) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${section.id}`;
    tab.textContent = section.dataset.tab;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", section.id);
    tab.addEventListener("click", () => showTab(section.id));
    tabs.list.append(tab);
  }
  tabs.list.addEventListener("keydown", (event) => {
    const all = [...tabs.list.children];
    const at = all.indexOf(event.target);
    const to = {
      ArrowLeft: at ? at - 1 : all.length - 1,
      ArrowRight: (at + 1) % all.length,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (to === undefined) return;
    all[to].focus();
    all[to].click();
    event.preventDefault();
  });
  document.querySelector(".versions").after(tabs.list);
  showTab(sections[0].id);
  addEventListener("hashchange", showTarget);
  showTarget();
}

function tabSections() {
  return [...document.querySelectorAll("[data-tab]")];
}

function showTab(id) {
  if (!tabs.list) return;
  tabs.chosen = id;
  for (const tab of tabs.list.children) {
    const isChosen = tab.id === `tab-${id}`;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
  }
  for (const section of tabSections()) {
    section.setAttribute("role", "tabpanel");
    section.setAttribute("aria-labelledby", `tab-${section.id}`);
    section.hidden = section.id !== id;
  }
}

// A link into a section shows it.
function showTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const section = target && target.closest("[data-tab]");
  if (!section) return;
  showTab(section.id);
  target.scrollIntoView();
}
