use klamm_protocol::{ApiKey, ApiVersion};

use super::shell::Shell;
use super::{api, assets, batches, decode, errors, features, index, names, records};
use crate::{apis, schema};

/// All pages, with links from one to the other that work from the file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Whether there is a server behind the pages that decodes bytes.
    pub served: bool,
}

/// A page of a [`Site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Index,
    Api(ApiKey),
    Records,
    Record(&'static str),
    Batches,
    Errors,
    Features,
    Decode,
}

impl Page {
    /// Where it is, with slashes, such as `apis/ElectLeaders.html`.
    pub fn path(self) -> String {
        match self.0 {
            Kind::Index => "index.html".to_owned(),
            Kind::Api(key) => index::path(key),
            Kind::Records => records::PATH.to_owned(),
            Kind::Record(name) => records::path(name),
            Kind::Batches => batches::PATH.to_owned(),
            Kind::Errors => errors::PATH.to_owned(),
            Kind::Features => features::PATH.to_owned(),
            Kind::Decode => decode::PATH.to_owned(),
        }
    }
}

/// What pages need besides themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Where it is, with slashes.
    pub path: &'static str,
    /// Its type.
    pub media_type: &'static str,
    /// What is in it.
    pub content: String,
}

impl Site {
    /// Its pages.
    pub fn pages(self) -> impl Iterator<Item = Page> {
        [Kind::Index]
            .into_iter()
            .chain(apis().map(Kind::Api))
            .chain([Kind::Records])
            .chain(records::all().map(|schema| Kind::Record(&schema.name)))
            .chain([Kind::Batches, Kind::Errors, Kind::Features])
            .chain(self.served.then_some(Kind::Decode))
            .map(Page)
    }

    /// A page.
    pub fn render(self, page: Page) -> String {
        let shell = |root| Shell::Site {
            root,
            served: self.served,
        };
        match page.0 {
            Kind::Index => index::page(shell("")),
            Kind::Api(key) => {
                let version = key.stable_versions().max;
                api::page(ApiVersion { key, version }, shell("../"))
                    .expect("an API that is listed has a stable version")
            }
            Kind::Records => records::list(shell("")),
            Kind::Record(name) => records::page(
                schema(name).expect("a record that is listed has a schema"),
                shell("../"),
            ),
            Kind::Batches => batches::page(shell("")),
            Kind::Errors => errors::page(shell("")),
            Kind::Features => features::page(shell("")),
            Kind::Decode => self.decode_page(""),
        }
    }

    /// The page of a served site that takes bytes, with what [`super::decoded`] or
    /// [`super::problem`] made of some.
    pub fn decode_page(self, result: &str) -> String {
        let shell = Shell::Site {
            root: "",
            served: self.served,
        };
        decode::page(shell, result)
    }

    /// The style, the script and the like.
    pub fn assets(self) -> Vec<Asset> {
        vec![
            Asset {
                path: assets::STYLE_PATH,
                media_type: "text/css; charset=utf-8",
                content: assets::STYLE.to_owned(),
            },
            Asset {
                path: assets::SCRIPT_PATH,
                media_type: "text/javascript; charset=utf-8",
                content: assets::SCRIPT.to_owned(),
            },
            Asset {
                path: assets::ICON_PATH,
                media_type: "image/svg+xml",
                content: assets::ICON.to_owned(),
            },
            Asset {
                path: assets::NAMES_PATH,
                media_type: "text/javascript; charset=utf-8",
                content: names::script(),
            },
        ]
    }
}
