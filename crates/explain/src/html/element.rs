/// HTML that is well formed and escaped by construction: elements are closures, and what is not
/// markup goes through [`Html::text`] or an attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An element with what is in it; gives what `content` gives.
    pub fn element<R>(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &str)],
        content: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.void(tag, attributes);
        let result = content(self);
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
        result
    }

    /// An element with text in it, or with nothing.
    pub fn leaf(&mut self, tag: &'static str, attributes: &[(&'static str, &str)], text: &str) {
        self.element(tag, attributes, |html| html.text(text));
    }

    /// An element that has no end tag, such as `input`.
    pub fn void(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            if !value.is_empty() {
                self.0.push_str("=\"");
                escape(value, &mut self.0);
                self.0.push('"');
            }
        }
        self.0.push('>');
    }

    /// Text, escaped.
    pub fn text(&mut self, text: &str) {
        escape(text, &mut self.0);
    }

    /// A text with code between backticks.
    pub fn prose(&mut self, text: &str) {
        for (index, part) in text.split('`').enumerate() {
            if index % 2 == 0 {
                self.text(part);
            } else {
                self.leaf("code", &[], part);
            }
        }
    }

    /// Words with what they are here.
    pub fn facts(&mut self, rows: &[(&str, String)]) {
        self.element("dl", &[("class", "facts")], |html| {
            for (word, value) in rows {
                html.element("div", &[], |html| {
                    html.leaf("dt", &[], word);
                    html.leaf("dd", &[], value);
                });
            }
        });
    }

    /// Other HTML.
    pub fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// What [`super::decoded`] or [`super::problem`] made.
    pub(super) fn decoded(&mut self, html: &str) {
        self.0.push_str(html);
    }

    /// A style or a script that is part of the program; they have escapes of their own and need none.
    pub fn asset(&mut self, text: &'static str) {
        self.0.push_str(text);
    }

    /// What there is so far.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// All of it.
    pub fn into_string(self) -> String {
        self.0
    }
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            // HTML has no control characters.
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut html = Html::new();
        let hostile = "<script>'\"&\0</script>";
        html.element("p", &[("title", hostile), ("hidden", "")], |html| {
            html.text(hostile);
        });
        let escaped = "&lt;script&gt;&#39;&quot;&amp;\u{fffd}&lt;/script&gt;";
        assert_eq!(
            html.into_string(),
            format!("<p title=\"{escaped}\" hidden>{escaped}</p>")
        );
    }

    #[test]
    fn backticks_are_code() {
        let mut html = Html::new();
        html.prose("set `a<b` to 1");
        assert_eq!(html.as_str(), "set <code>a&lt;b</code> to 1");
    }
}
