// The versions of a message, packed in the page. Choosing one needs no other page.

async function unpack(block) {
  const bytes = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0));
  const packed = new Blob([bytes]).stream();
  const stream = packed.pipeThrough(new DecompressionStream("deflate-raw"));
  return (await new Response(stream).text()).split("\0");
}

function startVersions() {
  const picker = document.querySelector(".versions");
  const block = document.getElementById("versions");
  if (!picker || !block) return;
  const inputs = [...picker.querySelectorAll("input")];
  const panel = document.getElementById("version");
  let pieces = null;
  let shown = inputs.find((input) => input.checked).value;
  const show = async (version) => {
    const at = inputs.findIndex((input) => input.value === version);
    if (at < 0 || version === shown) return;
    shown = version;
    inputs[at].checked = true;
    pieces ??= unpack(block);
    const piece = (await pieces)[at];
    if (version !== shown) return;
    panel.innerHTML = piece;
    showTab(tabs.chosen);
    startMessages(panel);
  };
  const follow = () => {
    const version = /^#v(\d+)$/.exec(location.hash);
    if (version) show(version[1]);
  };
  picker.addEventListener("change", (event) => {
    location.replace(`#v${event.target.value}`);
  });
  addEventListener("hashchange", follow);
  document.querySelector(".alone").hidden = true;
  picker.hidden = false;
  follow();
}
