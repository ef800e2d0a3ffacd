use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::DeflateDecoder;
use klamm_explain::html::{Site, api_page};
use klamm_explain::{Direction, apis, input, smallest_frame};
use klamm_protocol::{ApiKey, ApiVersion};

use crate::markup::Markup;

/// The most that a page may weigh, with all that it loads, in bytes.
const HEAVIEST: usize = 200_000;

const SITES: [Site; 2] = [Site { served: false }, Site { served: true }];

#[test]
fn pages_are_well_formed_and_all_links_resolve() {
    for site in SITES {
        let assets = site.assets();
        let pages: BTreeMap<String, Markup> = site
            .pages()
            .map(|page| {
                let path = page.path();
                let markup = Markup::read(&site.render(page), &path);
                (path, markup)
            })
            .collect();
        for (path, markup) in &pages {
            for link in &markup.links {
                let (page, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = resolved(path, page);
                let is_asset = assets.iter().any(|asset| asset.path == target);
                let target = pages.get(&target);
                assert!(target.is_some() || is_asset, "{path}: {link}");
                if !anchor.is_empty() {
                    assert!(target.unwrap().ids.contains(anchor), "{path}: {link}");
                }
            }
            let headings = markup.find("h1", "");
            assert_eq!(headings.len(), 1, "{path}");
        }
        let apis = pages.keys().filter(|path| path.starts_with("apis/"));
        assert_eq!(apis.count(), 91);
        // Whatever is searched for is on a page.
        let names = &assets.last().unwrap().content;
        let json = names.strip_prefix("const KLAMM_NAMES = ").unwrap();
        let json = json.strip_suffix(";\n").unwrap();
        let names: serde_json::Value = serde_json::from_str(json).unwrap();
        let found = names["pages"].as_array().unwrap();
        for entry in found {
            let link = entry[2].as_str().unwrap();
            let (page, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = pages.get(page).unwrap_or_else(|| panic!("{link}"));
            assert!(anchor.is_empty() || target.ids.contains(anchor), "{link}");
        }
        for (name, places) in names["fields"].as_object().unwrap() {
            for place in places.as_array().unwrap() {
                let page = place.as_u64().unwrap() as usize / 4;
                assert!(page < found.len(), "{name}");
            }
        }
    }
}

/// Where a link of a page leads, from the first page's folder.
fn resolved(path: &str, link: &str) -> String {
    if link.is_empty() {
        return path.to_owned();
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    match link.strip_prefix("../") {
        Some(link) => {
            assert!(!folder.is_empty(), "{path}: {link}");
            link.to_owned()
        }
        None if folder.is_empty() => link.to_owned(),
        None => format!("{folder}/{link}"),
    }
}

#[test]
fn no_page_is_heavy() {
    for site in SITES {
        let assets: usize = site.assets().iter().map(|asset| asset.content.len()).sum();
        for page in site.pages() {
            let weight = assets + site.render(page).len();
            assert!(weight < HEAVIEST, "{}: {weight} bytes", page.path());
        }
    }
}

#[test]
fn pages_are_the_same_every_time() {
    let site = Site::default();
    for page in site.pages() {
        assert_eq!(site.render(page), site.render(page), "{}", page.path());
    }
}

/// In every version of every API: the bytes are the frame's, the fields without others below them
/// cover them in order, and a byte has the class of its field.
#[test]
fn bytes_and_fields_cover_each_other_in_every_version() {
    let mut count = 0;
    for key in apis() {
        let version = key.stable_versions().max;
        let html = api_page(ApiVersion { key, version }).unwrap();
        let page = Markup::read(&html, "page");
        let packed = page
            .elements
            .iter()
            .find(|element| element.attribute("id") == "versions")
            .unwrap();
        let panels = unpacked(&packed.text);
        let versions: Vec<i16> = key.coded_versions().iter().collect();
        assert_eq!(panels.len(), versions.len());
        for (panel, version) in panels.iter().zip(versions) {
            let api = ApiVersion { key, version };
            let place = api.to_string();
            let markup = Markup::read(panel, &place);
            let messages = markup.find("div", "msg");
            assert_eq!(messages.len(), 2, "{place}");
            for (message, direction) in messages.into_iter().zip(Direction::BOTH) {
                let frame = smallest_frame(api, direction).unwrap();
                assert_covers(&markup, message, &frame, &place);
                count += 1;
            }
        }
        let shown = panels.last().unwrap();
        let is_latest = key.coded_versions().max == key.stable_versions().max;
        assert!(!is_latest || html.contains(shown.as_str()), "{key}");
    }
    assert_eq!(count, 618);
}

fn unpacked(text: &str) -> Vec<String> {
    let mut html = String::new();
    DeflateDecoder::new(&*input::base64(text).unwrap())
        .read_to_string(&mut html)
        .unwrap();
    html.split('\0').map(str::to_owned).collect()
}

fn assert_covers(markup: &Markup, message: usize, frame: &[u8], place: &str) {
    let cells: Vec<(u8, &str)> = markup
        .below(message)
        .filter(|(_, element)| element.tag == "table" && element.attribute("class") == "hex")
        .flat_map(|(table, _)| markup.below(table))
        .filter(|(_, element)| element.tag == "td")
        .map(|(_, cell)| {
            let byte = u8::from_str_radix(&cell.text, 16).unwrap();
            (byte, cell.attribute("class"))
        })
        .collect();
    let bytes: Vec<u8> = cells.iter().map(|(byte, _)| *byte).collect();
    assert_eq!(bytes, frame, "{place}");
    let rows: Vec<(usize, usize, usize, &str)> = markup
        .below(message)
        .filter(|(_, element)| element.tag == "tr" && !element.attribute("class").is_empty())
        .map(|(row, element)| {
            let (part, depth) = element.attribute("class").split_once(" d").unwrap();
            let mut numbers = markup
                .below(row)
                .filter(|(_, element)| element.tag == "td")
                .map(|(_, cell)| cell.text.parse::<usize>());
            let offset = numbers.next().unwrap().unwrap();
            let length = numbers.next().unwrap().unwrap();
            (depth.parse().unwrap(), offset, length, part)
        })
        .collect();
    let mut at = 0;
    for (index, (depth, offset, length, part)) in rows.iter().enumerate() {
        let next = rows.get(index + 1);
        if next.is_some_and(|(next, ..)| next > depth) {
            continue;
        }
        assert_eq!(at, *offset, "{place}");
        for (_, class) in &cells[at..at + length] {
            assert_eq!(class, part, "{place}, byte {at}");
        }
        at += length;
    }
    assert_eq!(at, frame.len(), "{place}");
}

#[test]
fn a_page_alone_needs_nothing_else() {
    let api = ApiVersion {
        key: ApiKey::ELECT_LEADERS,
        version: 1,
    };
    let html = api_page(api).unwrap();
    let markup = Markup::read(&html, "page");
    for link in &markup.links {
        assert!(link.starts_with('#'), "{link}");
    }
    assert!(html.contains("ElectLeadersRequest v1"));
    let missing = ApiVersion { version: 9, ..api };
    assert!(api_page(missing).is_err());
}
