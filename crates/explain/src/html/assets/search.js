// Search over names; `names.js` has them. Results are links, so that they open as links do.

const MOST_RESULTS = 40;
const MOST_OF_A_FIELD = 6;

function startSearch() {
  const box = document.querySelector(".search");
  if (!box || typeof KLAMM_NAMES === "undefined") return;
  box.setAttribute("role", "search");
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Search: name, key, field, error";
  input.setAttribute("aria-label", "Search APIs, fields, records and errors");
  input.autocomplete = "off";
  input.spellcheck = false;
  const list = document.createElement("ul");
  list.hidden = true;
  const status = document.createElement("p");
  status.className = "unseen";
  status.setAttribute("role", "status");
  box.append(input, list, status);

  const close = () => (list.hidden = true);
  const update = () => {
    const found = search(input.value.trim().toLowerCase());
    list.replaceChildren(...found.slice(0, MOST_RESULTS).map((each) => result(each, box)));
    list.hidden = !input.value.trim();
    if (!list.hidden && !found.length) list.append(nothing());
    list.scrollTop = 0;
    status.textContent = list.hidden ? "" : `${found.length} results`;
  };
  input.addEventListener("input", update);
  input.addEventListener("focus", update);
  box.addEventListener("focusout", (event) => {
    if (!box.contains(event.relatedTarget)) close();
  });
  box.addEventListener("keydown", (event) => {
    const stops = [input, ...list.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    if (event.key === "ArrowDown") stops[Math.min(at + 1, stops.length - 1)].focus();
    else if (event.key === "ArrowUp") stops[Math.max(at - 1, 0)].focus();
    else if (event.key === "Enter" && at === 0) stops[1]?.click();
    else if (event.key === "Escape") {
      input.focus();
      input.value = "";
      close();
    } else return;
    event.preventDefault();
  });
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
}

// Names that have the text, the best first: as a whole, at their start, at a word's, anywhere.
function search(text) {
  if (!text) return [];
  const found = [];
  KLAMM_NAMES.pages.forEach(([name, about, path]) => {
    const rank = Math.min(rankOf(name, text), about.endsWith(` ${text}`) ? 0 : 9);
    if (rank < 9) found.push({ rank, name, about, path });
  });
  for (const [name, places] of Object.entries(KLAMM_NAMES.fields)) {
    const rank = rankOf(name, text) + 0.5;
    if (rank > 9) continue;
    places.forEach((place, index) => {
      const [page, , path] = KLAMM_NAMES.pages[place >> 2];
      const where = ["", " request", " response", ""][place & 3];
      const late = index < MOST_OF_A_FIELD ? 0 : 4;
      found.push({ rank: rank + late, name, about: `in ${page}${where}`, path });
    });
  }
  return found.sort((a, b) => a.rank - b.rank || a.name.length - b.name.length);
}

function rankOf(name, text) {
  const at = name.toLowerCase().indexOf(text);
  if (at < 0) return 9;
  if (at === 0) return name.length === text.length ? 0 : 1;
  const isWord = /[A-Z]/.test(name[at]) && !/[A-Z]/.test(name[at - 1]);
  return isWord || name[at - 1] === "_" ? 2 : 3;
}

function result({ name, about, path }, box) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = box.dataset.root + path;
  const word = document.createElement("b");
  word.textContent = name;
  const more = document.createElement("span");
  more.textContent = about;
  link.append(word, " ", more);
  item.append(link);
  return item;
}

function nothing() {
  const item = document.createElement("li");
  item.textContent = "Nothing has that name.";
  return item;
}
