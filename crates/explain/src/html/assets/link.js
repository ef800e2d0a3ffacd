// Bytes and fields of a message, linked both ways: pointing at one marks the other. The tables say
// all that is needed: a row has its offset and length, and bytes are counted.

const ROW = 16;

class Linked {
  constructor(message) {
    this.message = message;
    this.here = message.querySelector(".here");
    this.tables = [...message.querySelectorAll("table.hex")];
    this.bytes = this.tables.map((table) => [...table.querySelectorAll("td:not(.chars, .x)")]);
    this.chars = this.tables.map((table) => [...table.querySelectorAll(".chars i")]);
    this.fields = [...message.querySelectorAll("table.tree tbody tr")].map(field);
    this.owners = this.bytes.map((bytes) => new Int32Array(bytes.length).fill(-1));
    this.place = new Map();
    this.marked = [];
    this.shown = -1;
    this.pinned = -1;
    this.family();
    this.grid();
    this.tree();
    // A page that scrolls below a mouse at rest is not pointed at.
    let [x, y] = [NaN, NaN];
    message.addEventListener("pointermove", (event) => {
      const isMoved = event.screenX !== x || event.screenY !== y;
      [x, y] = [event.screenX, event.screenY];
      if (event.pointerType === "mouse" && isMoved) this.mark(this.at(event.target));
    });
    message.addEventListener("pointerleave", () => this.mark(this.pinned));
  }

  // Parents of fields, and the field of each byte: the deepest one, which comes last.
  family() {
    const open = [];
    this.fields.forEach((field, index) => {
      while (open.length && this.fields[open.at(-1)].depth >= field.depth) open.pop();
      field.parent = open.length ? open.at(-1) : -1;
      field.isParent = false;
      if (open.length) this.fields[open.at(-1)].isParent = true;
      open.push(index);
      this.place.set(field.row, [index]);
      this.owners[field.region]?.fill(index, field.offset, field.offset + field.length);
    });
    this.bytes.forEach((bytes, region) =>
      bytes.forEach((cell, at) => this.place.set(cell, [this.owners[region][at], region, at])),
    );
    this.chars.forEach((chars, region) =>
      chars.forEach((cell, at) => this.place.set(cell, [this.owners[region][at], region, at])),
    );
  }

  // The field that an element belongs to; what is pinned where there is none.
  at(element) {
    for (let up = element; up && up !== this.message; up = up.parentElement) {
      if (this.place.has(up)) return this.place.get(up)[0];
    }
    return this.pinned;
  }

  mark(index) {
    if (index === this.shown) return;
    this.shown = index;
    for (const [element, name] of this.marked) element.classList.remove(name);
    this.marked = [];
    const add = (element, name) => {
      element.classList.add(name);
      this.marked.push([element, name]);
    };
    const cover = ({ region, offset, length }, name) => {
      for (const cells of [this.bytes[region], this.chars[region]]) {
        cells?.slice(offset, offset + length).forEach((cell) => add(cell, name));
      }
    };
    const field = this.fields[index];
    this.describe(field);
    if (!field) return;
    add(field.row, "on");
    cover(field, "on");
    for (let up = field.parent; up >= 0; up = this.fields[up].parent) add(this.fields[up].row, "up");
    const parent = this.fields[field.parent];
    if (parent) cover(parent, "near");
  }

  pin(index) {
    this.pinned = index;
    this.mark(index);
  }

  path(field) {
    const names = [];
    for (let up = field; up; up = this.fields[up.parent]) names.unshift(up.name);
    return names.join(" › ");
  }

  describe(field) {
    this.here.replaceChildren();
    this.here.hidden = !field;
    if (!field) return;
    const part = (tag, text) => {
      const element = document.createElement(tag);
      element.textContent = text;
      this.here.append(element, " ");
    };
    part("b", this.path(field));
    part("span", span(field));
    if (field.value) part("span", field.value);
    if (field.encoding) part("span", field.encoding);
    if (field.about) part("em", field.about);
  }

  // The bytes are one stop of the Tab key; arrows move within.
  grid() {
    this.go = this.tables.map((table, region) => {
      const cells = this.bytes[region];
      table.setAttribute("role", "grid");
      cells.forEach((cell, at) => (cell.tabIndex = at ? -1 : 0));
      const go = (at) => {
        const cell = cells[at];
        if (!cell) return;
        cells.forEach((other) => (other.tabIndex = -1));
        cell.tabIndex = 0;
        cell.focus();
      };
      table.addEventListener("focusin", (event) => {
        const place = this.place.get(event.target);
        if (!place) return;
        this.pin(place[0]);
        const field = this.fields[place[0]];
        const what = field ? `, ${this.path(field)}, ${field.value}` : "";
        event.target.setAttribute("aria-label", `byte ${place[2]}: ${event.target.textContent}${what}`);
      });
      table.addEventListener("click", (event) => {
        const place = this.place.get(event.target);
        if (!place) return;
        go(place[2]);
        this.reveal(place[0]);
      });
      table.addEventListener("keydown", (event) => {
        const at = this.place.get(event.target)?.[2];
        if (at === undefined || event.altKey || event.metaKey) return;
        const last = cells.length - 1;
        const start = at - (at % ROW);
        const to = {
          ArrowLeft: at - 1,
          ArrowRight: at + 1,
          ArrowUp: at - ROW,
          ArrowDown: at + ROW,
          Home: event.ctrlKey ? 0 : start,
          End: event.ctrlKey ? last : Math.min(start + ROW - 1, last),
        }[event.key];
        if (to !== undefined) go(to);
        else if (event.key === "Enter") this.focusRow(this.place.get(event.target)[0]);
        else return;
        this.reveal(this.pinned);
        event.preventDefault();
      });
      return go;
    });
  }

  // The rows are one stop, too.
  tree() {
    const table = this.message.querySelector("table.tree");
    table.setAttribute("role", "treegrid");
    this.fields.forEach((field, index) => {
      field.row.tabIndex = index ? -1 : 0;
      field.row.setAttribute("aria-level", field.depth + 1);
      if (field.isParent) field.row.setAttribute("aria-expanded", "true");
    });
    table.addEventListener("focusin", (event) => {
      const place = this.place.get(event.target.closest("tr"));
      if (place) this.pin(place[0]);
    });
    table.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      const place = this.place.get(row);
      if (!place) return;
      const name = row.cells[2].querySelector("b, i");
      const twig = name && row.hasAttribute("aria-expanded") && event.clientX < left(name);
      this.focusRow(place[0]);
      if (twig) this.fold(place[0], row.getAttribute("aria-expanded") === "true");
    });
    table.addEventListener("keydown", (event) => {
      const index = this.place.get(event.target.closest("tr"))?.[0];
      if (index === undefined || event.altKey || event.metaKey || event.ctrlKey) return;
      const field = this.fields[index];
      const expanded = field.row.getAttribute("aria-expanded");
      if (event.key === "ArrowDown") this.focusRow(this.visible(index, 1));
      else if (event.key === "ArrowUp") this.focusRow(this.visible(index, -1));
      else if (event.key === "Home") this.focusRow(0);
      else if (event.key === "End") this.focusRow(this.visible(this.fields.length, -1));
      else if (event.key === "ArrowRight" && expanded === "false") this.fold(index, false);
      else if (event.key === "ArrowRight" && expanded) this.focusRow(index + 1);
      else if (event.key === "ArrowLeft" && expanded === "true") this.fold(index, true);
      else if (event.key === "ArrowLeft") this.focusRow(field.parent);
      else if (event.key === "Enter") this.go[field.region]?.(field.offset);
      else return;
      event.preventDefault();
    });
  }

  visible(index, step) {
    let next = index + step;
    while (this.fields[next]?.row.hidden) next += step;
    return next;
  }

  fold(index, isFolded) {
    this.fields[index].row.setAttribute("aria-expanded", String(!isFolded));
    const depth = this.fields[index].depth;
    for (let next = index + 1; this.fields[next]?.depth > depth; next++) {
      const { row, parent } = this.fields[next];
      const above = this.fields[parent].row;
      row.hidden = above.hidden || above.getAttribute("aria-expanded") === "false";
    }
  }

  focusRow(index) {
    const field = this.fields[index];
    if (!field) return;
    for (let up = field.parent; up >= 0; up = this.fields[up].parent) {
      if (this.fields[up].row.getAttribute("aria-expanded") === "false") this.fold(up, false);
    }
    this.fields.forEach((other) => (other.row.tabIndex = -1));
    field.row.tabIndex = 0;
    field.row.focus();
  }

  reveal(index) {
    this.fields[index]?.row.scrollIntoView({ block: "nearest" });
  }
}

function field(row) {
  const name = row.cells[2].querySelector("b, i") ?? row.cells[2];
  return {
    row,
    region: Number(row.dataset.region ?? 0),
    depth: Number(/\bd(\d+)/.exec(row.className)[1]),
    offset: Number(row.cells[0].textContent),
    length: Number(row.cells[1].textContent),
    name: name.textContent,
    value: row.cells[3].querySelector("b")?.textContent ?? "",
    encoding: row.cells[3].querySelector("span")?.textContent,
    about: row.cells[2].querySelector("p")?.textContent,
  };
}

function span({ offset, length }) {
  if (length === 0) return `at byte ${offset}, no bytes`;
  if (length === 1) return `byte ${offset}`;
  return `bytes ${offset}–${offset + length - 1}`;
}

function left(element) {
  return element.getBoundingClientRect().left;
}

function startMessages(root) {
  root.querySelectorAll(".msg").forEach((message) => new Linked(message));
}
