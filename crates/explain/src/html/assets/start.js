document.addEventListener("DOMContentLoaded", () => {
  startTheme();
  startSearch();
  startTabs();
  startMessages(document);
  startVersions();
  startDecode();
});
