use super::element::Html;

/// A table of text that scrolls within itself where it is too wide.
pub fn table(
    class: &'static str,
    caption: &str,
    headings: &[&str],
    html: &mut Html,
    rows: impl FnOnce(&mut Html),
) {
    let attributes = [
        ("class", "scroll"),
        ("tabindex", "0"),
        ("role", "region"),
        ("aria-label", caption),
    ];
    html.element("div", &attributes, |html| {
        html.element("table", &[("class", class)], |html| {
            html.leaf("caption", &[], caption);
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for heading in headings {
                        html.leaf("th", &[("scope", "col")], heading);
                    }
                });
            });
            html.element("tbody", &[], rows);
        });
    });
}

/// A name that heads a row, perhaps as a link, with what it means below it.
pub(super) fn named(name: &str, link: Option<&str>, about: &str, html: &mut Html) {
    html.element("th", &[("scope", "row")], |html| {
        match link {
            Some(link) => html.leaf("a", &[("href", link)], name),
            None => html.leaf("b", &[], name),
        }
        if !about.is_empty() {
            html.element("p", &[], |html| html.prose(about));
        }
    });
}
