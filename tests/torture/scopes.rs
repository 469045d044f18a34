//! P15: each route accepts the keys with its scope, and no others.
//!
//! A trial is a request: a route from the executable's description, with a key. There is a key for each
//! scope, one without any, a deactivated one, some with random scopes, and requests without a key. Path and
//! body are random as well. Each request without a good key comes from a separate address, as those of one
//! address are counted (D20).

use std::collections::BTreeSet;
use std::sync::OnceLock;

use partnerd::rules::choice::Choice;
use partnerd::rules::scope::Scope;
use serde_json::{Value, json};

use crate::described::{Operation, operations};
use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::mills::{Mills, copied};
use crate::process::Folder;
use crate::wire::{Talk, request};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P15",
    what: "requests: each route × each key of one scope, of some, of none, deactivated, no key",
    needs: &[],
    seeds: 2,
    case,
    fault: "what is expected has another scope for one route",
    control_seeds: 1,
};

/// Keys per seed with random scopes.
const MIXED_KEYS: usize = 2;

/// A key, and the scopes it opens; `None` if it opens nothing.
struct Holder {
    key: String,
    scopes: Option<BTreeSet<&'static str>>,
}

impl Holder {
    fn new(folder: &Folder, scopes: BTreeSet<&'static str>) -> Holder {
        let mut create = vec!["key", "create", "--tenant", "Mühle", "--label", "test"];
        create.extend(scopes.iter().flat_map(|scope| ["--scope", scope]));
        let key = folder.result(&create).trim().to_owned();
        Holder { key, scopes: Some(scopes) }
    }

    /// Whether this key may get this status for a route.
    fn fits(&self, scope: Option<&str>, status: u16) -> bool {
        match (scope, &self.scopes) {
            (None, _) => ![401, 403].contains(&status),
            (Some(_), None) => status == 401,
            (Some(scope), Some(own)) if scope.is_empty() || own.contains(scope) => {
                ![401, 403].contains(&status)
            }
            (Some(_), Some(_)) => status == 403,
        }
    }

    fn named(&self) -> String {
        match &self.scopes {
            Some(scopes) => format!("a key for {scopes:?}"),
            None if self.key.is_empty() => "no key".to_owned(),
            None => "a deactivated key".to_owned(),
        }
    }
}

/// A database with these keys.
struct Scene {
    folder: Folder,
    holders: Vec<Holder>,
}

impl Scene {
    fn get() -> &'static Scene {
        static SCENE: OnceLock<Scene> = OnceLock::new();
        SCENE.get_or_init(|| {
            let folder = Mills::get().copy();
            let single = Scope::ALL.iter().map(|scope| BTreeSet::from([scope.as_str()]));
            let mut holders: Vec<_> = single.map(|scopes| Holder::new(&folder, scopes)).collect();
            let mut off = Holder::new(&folder, Scope::ALL.iter().map(|scope| scope.as_str()).collect());
            folder.result(&["key", "deactivate", off.key.split('_').nth(1).unwrap()]);
            off.scopes = None;
            // No command creates a key without any scope.
            let none = Holder::new(&folder, BTreeSet::from(["kunden:read"]));
            let id = none.key.split('_').nth(1).unwrap();
            folder.database().execute("update api_key set scopes = '' where id = ?1", [id]).unwrap();
            holders.push(Holder { scopes: Some(BTreeSet::new()), ..none });
            holders.extend([off, Holder { key: String::new(), scopes: None }]);
            Scene { folder, holders }
        })
    }
}

fn case(case: &mut Case) -> Result<u64, String> {
    let scene = Scene::get();
    let folder = copied(&scene.folder);
    let dice = &mut case.dice;
    let mixed: Vec<_> = (0..MIXED_KEYS).map(|_| Holder::new(&folder, some_scopes(dice))).collect();
    let settings = "log_level = \"warn\"\ntrusted_proxies = \"127.0.0.1\"\n";
    let server = folder.serve(&["--config", &folder.write("torture.toml", settings)]);
    let mut talk = Talk::with(&server);
    let keyed: Vec<&Operation> = operations().iter().filter(|operation| operation.scope.is_some()).collect();
    let wrong = case.has_fault.then(|| keyed[dice.below(keyed.len())].name());
    let mut trials = 0;
    for operation in operations() {
        let mut scope = operation.scope.as_deref();
        if wrong.as_ref() == Some(&operation.name()) {
            scope = Some(if scope == Some("kasse:read") { "kunden:read" } else { "kasse:read" });
        }
        for holder in scene.holders.iter().chain(&mixed) {
            trials += 1;
            let (method, bytes) = asked(dice, operation, &holder.key, trials);
            let heard = talk.ask(&method, &bytes)?;
            if !holder.fits(scope, heard.status) {
                let answer = format!("{} {}", heard.status, heard.text());
                return Err(format!("{method} {} with {}: {answer}", operation.pattern, holder.named()));
            }
        }
    }
    Ok(trials)
}

fn some_scopes(dice: &mut Dice) -> BTreeSet<&'static str> {
    let one = dice.below(Scope::ALL.len());
    let others = Scope::ALL.iter().enumerate().filter(|(at, _)| *at == one || dice.once_in(3));
    others.map(|(_, scope)| scope.as_str()).collect()
}

/// A request to a route: its method, and its bytes.
fn asked(dice: &mut Dice, operation: &Operation, key: &str, number: u64) -> (String, Vec<u8>) {
    let ids: Vec<&String> = Mills::get().own.ids.values().collect();
    let mut path = operation.pattern.clone();
    for name in &operation.path {
        let id = if dice.once_in(2) {
            uuid::Uuid::from_u128(7).to_string()
        } else {
            ids[dice.below(ids.len())].clone()
        };
        path = path.replace(&format!("{{{name}}}"), &id);
    }
    let method = if operation.method == "GET" && dice.once_in(8) { "HEAD" } else { &operation.method };
    let bodies: [Value; 4] = [json!({}), json!([]), json!({"grund": "x"}), Value::Null];
    let body = bodies[dice.below(bodies.len())].to_string();
    let body = (operation.method != "GET").then_some(body.as_bytes());
    let address = format!("10.{}.{}.{}", number >> 16 & 255, number >> 8 & 255, number & 255);
    (method.to_owned(), request(method, &path, key, &[("X-Forwarded-For", &address)], body))
}
