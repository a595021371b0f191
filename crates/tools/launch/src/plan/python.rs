//! Evaluates what only Python knows: files in Python, functions, and objects of classes that this
//! crate does not know. Python asks questions meanwhile, which this evaluation answers.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::evaluator::{Commands, Evaluator, MAX_TEXT_BYTES, folder_of};
use super::scope::check_variable;
use crate::action::{self, Item, LaunchFile, ParameterEntry};
use crate::error::LaunchError;
use crate::missing_module::{cure_of_module, missing_module};
use crate::position::Position;
use crate::python::{Changes, Decoder, Failure, HostError, Line, Message, value_to_json};
use crate::substitution::Template;
use crate::tree::Language;

/// The limit on requests that wait for one another, each of which takes room on the stack.
const MAX_WAITING: usize = 32;

/// The reason why a question of Python has no answer.
struct Refusal {
    kind: &'static str,
    error: LaunchError,
}

impl Refusal {
    /// The question is unfit.
    fn protocol(error: LaunchError) -> Self {
        Self { kind: "protocol", error }
    }

    fn package(error: LaunchError) -> Self {
        Self { kind: "package", error }
    }

    fn substitution(error: LaunchError) -> Self {
        Self { kind: "substitution", error }
    }
}

impl Evaluator {
    /// Reads a launch file in any language.
    pub(super) fn launch_file(
        &self,
        path: &Path,
        language: Option<Language>,
        from: Option<&Position>,
    ) -> Result<LaunchFile, LaunchError> {
        if !self.python.reads(path, language) {
            return action::read_file(path, language, from);
        }
        let unreadable =
            |cause| LaunchError::Unreadable { path: path.to_owned(), from: from.cloned(), cause };
        drop(feros_files::open(path).map_err(unreadable)?);
        let at = Position::new(&path.into(), 1, 1);
        let mut load = request("load");
        load.insert("path".to_owned(), path.to_string_lossy().into());
        let done = self.ask(load, path, &at)?;
        Decoder::default().launch_file(entities(&done), &at)
    }

    /// The actions that a Python object performs.
    pub(super) fn execute(&self, id: u64, at: &Position) -> Result<Vec<Item>, LaunchError> {
        self.items_of(request_to("execute", id), at)
    }

    /// The actions of one iteration of a loop, whose variables have these values.
    pub(super) fn iterate(
        &self,
        id: u64,
        key: &str,
        values: Json,
        at: &Position,
    ) -> Result<Vec<Item>, LaunchError> {
        let mut message = request_to("iterate", id);
        message.insert(key.to_owned(), values);
        self.items_of(message, at)
    }

    fn items_of(&self, message: Message, at: &Position) -> Result<Vec<Item>, LaunchError> {
        let done = self.ask(message, self.file(), at)?;
        let mut decoder = Decoder::default();
        let items = decoder.items(entities(&done), at);
        self.python.note_read(decoder.into_variables());
        items
    }

    /// The actions that a Python function returns in reaction to the current event.
    pub(super) fn reaction(&self, id: u64, at: &Position) -> Result<Vec<Item>, LaunchError> {
        self.items_of(request_to("react", id), at)
    }

    /// Whether a Python function accepts an action, or a handler or function the current event.
    pub(super) fn python_matches(
        &self,
        id: u64,
        action: Option<u64>,
        at: &Position,
    ) -> Result<bool, LaunchError> {
        let mut message = request_to("matches", id);
        message.extend(action.map(|action| ("action".to_owned(), action.into())));
        let details = action.and_then(|action| self.python.details(action));
        message.extend(details.map(|details| ("details".to_owned(), details.clone())));
        let done = self.ask(message, self.file(), at)?;
        let matches = done.get("matches").and_then(Json::as_bool);
        matches.ok_or_else(|| LaunchError::at(at, "Python's answer is neither true nor false"))
    }

    /// The text of a Python object.
    pub(super) fn perform(&self, id: u64, at: &Position) -> Result<String, LaunchError> {
        let done = self.ask_object("perform", id, at)?;
        if self.python.has_seen_placeholder.get() {
            return Ok(self.placeholder());
        }
        match done.get("text").and_then(Json::as_str) {
            Some(text) if text.len() > MAX_TEXT_BYTES => Err(LaunchError::at(
                at,
                format!("Python gives a text of more than {MAX_TEXT_BYTES} bytes"),
            )),
            Some(text) => Ok(text.to_owned()),
            None => Err(LaunchError::at(at, "Python's answer has no text")),
        }
    }

    /// Whether a condition that only Python can evaluate holds.
    pub(super) fn python_holds(&self, id: u64, at: &Position) -> Result<bool, LaunchError> {
        let done = self.ask_object("holds", id, at)?;
        if self.python.has_seen_placeholder.get() {
            return Err(self.unknown(at));
        }
        let holds = done.get("holds").and_then(Json::as_bool);
        holds.ok_or_else(|| LaunchError::at(at, "Python's answer is neither true nor false"))
    }

    fn ask_object(&self, name: &str, id: u64, at: &Position) -> Result<Message, LaunchError> {
        if self.commands.get() == Commands::Refused {
            let problem = "an object of Python is not evaluated here, because the file is only \
                           inspected";
            return Err(LaunchError::at(at, problem));
        }
        self.ask(request_to(name, id), self.file(), at)
    }

    /// Sends a request with the current scope, and answers questions until the reply.
    fn ask(
        &self,
        mut message: Message,
        file: &Path,
        at: &Position,
    ) -> Result<Message, LaunchError> {
        if self.python.rehearses() {
            // What Python would answer is unknown before the event, so that is no mistake.
            self.python.note_missing();
            return Err(LaunchError::at(at, "Python is asked when the event occurs"));
        }
        let depth = self.python.depth.get();
        if depth >= MAX_WAITING {
            let problem = format!("calls of Python are nested deeper than {MAX_WAITING}");
            return Err(LaunchError::at(at, problem));
        }
        self.add_state(&mut message, file);
        self.python.depth.set(depth + 1);
        let before = self.python.has_seen_placeholder.take();
        let reply = self.converse(&message, depth == 0, at);
        // The function that waits for the answer sees what this one has seen.
        let seen = &self.python.has_seen_placeholder;
        seen.set(seen.get() || (before && depth > 0));
        self.python.depth.set(depth);
        reply
    }

    fn converse(
        &self,
        message: &Message,
        is_outermost: bool,
        at: &Position,
    ) -> Result<Message, LaunchError> {
        let session = self.python.session();
        let broken = |error| self.broken(error, at);
        session.begin(message, at.to_string()).map_err(broken)?;
        loop {
            let (name, fields) = match session.receive(is_outermost).map_err(broken)? {
                Line::Question { name, fields } => (name, fields),
                Line::Done(done) => {
                    self.note_seen(&done);
                    self.apply(&done, at)?;
                    return Ok(done);
                }
                Line::Failed(failed) => {
                    self.note_seen(&failed);
                    if is_outermost {
                        // The code that asked for an inner request may handle its failure.
                        self.python.end_early();
                    }
                    self.apply(&failed, at)?;
                    return Err(self.failure(&failed, at));
                }
            };
            let mut answer = Message::new();
            // Python code may handle a failure, so it gets no placeholders for mistakes.
            let before = self.mistakes.go_on(false);
            let answered = self.answer(&name, &fields, at);
            self.mistakes.go_on(before);
            match answered {
                Ok(value) => {
                    if self.depends_on_mistake(&value.to_string()) {
                        self.python.has_seen_placeholder.set(true);
                    }
                    answer.insert("answer".to_owned(), value);
                }
                // The host has ended, and this error says why.
                Err(Refusal { error, .. }) if session.is_lost() => return Err(error),
                Err(Refusal { kind, error }) => {
                    if self.forget_error() {
                        self.python.has_seen_placeholder.set(true);
                    }
                    let text = match error {
                        LaunchError::InFile { problem, .. } => problem,
                        other => other.to_string(),
                    };
                    answer.insert("error".to_owned(), text.into());
                    answer.insert("kind".to_owned(), kind.into());
                }
            }
            session.send(&answer).map_err(broken)?;
        }
    }

    /// Notes whether Python code has read a variable that is a placeholder.
    fn note_seen(&self, reply: &Message) {
        let names = reply.get("read").and_then(Json::as_array).into_iter().flatten();
        let is_unknown = |name: &str| {
            let value = self.scope.configurations.get(name);
            value.is_some_and(|value| self.is_unknown(&value))
        };
        if names.filter_map(Json::as_str).any(is_unknown) {
            self.python.has_seen_placeholder.set(true);
        }
    }

    /// The error of a request that failed. It follows from an earlier mistake if the code has seen
    /// a placeholder.
    fn failure(&self, failed: &Message, at: &Position) -> LaunchError {
        let Failure { at: place, problem, others } = Failure::from_json(failed);
        if self.python.has_seen_placeholder.get() {
            self.python.follow();
        }
        let first = LaunchError::at(place.as_ref().unwrap_or(at), self.with_cure(problem));
        if others.is_empty() {
            return first;
        }
        let others = others.into_iter();
        let others = others.map(|(at, problem)| LaunchError::at(&at, self.with_cure(problem)));
        LaunchError::Several(std::iter::once(first).chain(others).collect())
    }

    /// A problem of Python code, with what to do about a missing module.
    fn with_cure(&self, problem: String) -> String {
        let (error, calls) = problem.split_at(problem.find('\n').unwrap_or(problem.len()));
        let Some(module) = missing_module(error) else { return problem };
        let prefix = self.packages.prefix(module).ok();
        format!("{error}: {}{calls}", cure_of_module(module, Path::new("."), prefix))
    }

    fn broken(&self, error: HostError, at: &Position) -> LaunchError {
        self.python.end_early();
        match error {
            HostError::Signal(signal) => return LaunchError::Signal(signal),
            // The first error says why Python has ended, unless it was long ago.
            HostError::Lost if self.event.is_none() => self.python.follow(),
            _ => {}
        }
        LaunchError::at(at, error.to_string())
    }

    /// Adds the scope as Python code sees it.
    fn add_state(&self, message: &mut Message, file: &Path) {
        let mut configurations = self.scope.configurations.all();
        if let Some(namespace) = &self.scope.namespace {
            configurations.insert("ros_namespace".to_owned(), namespace.clone());
        }
        let folder = folder_of(file);
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        message.insert("configurations".to_owned(), json!(configurations));
        message.insert("environment".to_owned(), json!(self.scope.environment.all()));
        if let Some(event) = &self.event {
            message.insert("event".to_owned(), event.clone());
        }
        message.insert(
            "locals".to_owned(),
            json!({
                "current_launch_file_path": path.to_string_lossy(),
                "current_launch_file_directory": folder.to_string_lossy(),
            }),
        );
    }

    /// Changes the scope as Python code has changed it.
    fn apply(&self, message: &Message, at: &Position) -> Result<(), LaunchError> {
        let changes = Changes::from_json(message)
            .map_err(|problem| LaunchError::at(at, format!("Python's answer: {problem}")))?;
        self.scope.configurations.extend(changes.set);
        changes.unset.iter().for_each(|name| self.scope.configurations.remove(name));
        for (name, value) in changes.environment {
            check_variable(&name, value.as_deref().unwrap_or(""), at)?;
            self.scope.environment.insert(name, value);
        }
        self.python.note_read(changes.read);
        Ok(())
    }

    fn answer(&self, name: &str, fields: &Message, at: &Position) -> Result<Json, Refusal> {
        let unfit = || Refusal::protocol(LaunchError::at(at, format!("unfit question `{name}`")));
        let text = |key: &str| fields.get(key).and_then(Json::as_str).ok_or_else(unfit);
        let package = |error: crate::packages::FindError| {
            Refusal::package(LaunchError::at(at, error.to_string()))
        };
        let shown = |path: &Path| Json::from(path.to_string_lossy());
        match name {
            "text" | "condition" | "value" => {
                let json = fields.get(if name == "text" { "template" } else { name });
                let json = json.ok_or_else(unfit)?;
                // A launch file may evaluate in a context of its own.
                let own = fields.get("configurations").map(texts).transpose();
                let own = own.map_err(|()| unfit())?;
                let before = own.map(|own| self.scope.configurations.replace(own));
                // Python code needs the true output of commands.
                let commands = self.commands.replace(Commands::Run);
                let answer = self.evaluate(name, json, at);
                self.commands.set(commands);
                if let Some(before) = before {
                    self.scope.configurations.replace(before);
                }
                answer
            }
            "share" => Ok(shown(&self.packages.share(text("package")?).map_err(package)?)),
            "prefix" => Ok(shown(self.packages.prefix(text("package")?).map_err(package)?)),
            "executable" => {
                let found = self.packages.executable(text("package")?, text("executable")?);
                Ok(shown(&found.map_err(package)?))
            }
            "program" => {
                let found = self.packages.command(text("package")?, text("executable")?);
                Ok(Json::from(found.map_err(package)?))
            }
            "packages" => {
                let names = self.packages.packages().into_iter();
                let found = names.filter_map(|name| {
                    let prefix = shown(self.packages.prefix(&name).ok()?);
                    Some(json!([name, prefix]))
                });
                Ok(found.collect())
            }
            "configurations" => {
                self.apply(fields, at).map_err(Refusal::protocol)?;
                Ok(Json::Null)
            }
            "warn" => {
                let place = Failure::from_json(fields).at;
                let text = feros_wording::harmless_block(text("text")?);
                self.warn(place.as_ref().unwrap_or(at), &text);
                Ok(Json::Null)
            }
            _ => Err(unfit()),
        }
    }

    /// Evaluates a template, a condition or a value for Python.
    fn evaluate(&self, name: &str, json: &Json, at: &Position) -> Result<Json, Refusal> {
        let mut decoder = Decoder::default();
        let answer = match name {
            "text" => {
                let template = decoder.template(json, at).map_err(Refusal::protocol)?;
                Json::from(self.text(&template).map_err(Refusal::substitution)?)
            }
            "condition" => {
                let condition = decoder.one_condition(json, at).map_err(Refusal::protocol)?;
                Json::from(self.holds(Some(&condition)).map_err(Refusal::substitution)?)
            }
            _ => {
                let content = decoder.content(json, at).map_err(Refusal::protocol)?;
                let name = Template::of_text("value", at);
                let entry = ParameterEntry { name, at: at.clone(), content };
                let mut values = Vec::new();
                self.entry("", &entry, &mut values).map_err(Refusal::substitution)?;
                match values.as_slice() {
                    [(_, value)] => json!({ "is": value_to_json(value) }),
                    _ => {
                        let error = LaunchError::at(at, "a dictionary is not a single value");
                        return Err(Refusal::protocol(error));
                    }
                }
            }
        };
        self.python.note_read(decoder.into_variables());
        Ok(answer)
    }
}

fn request(name: &str) -> Message {
    let mut message = Message::new();
    message.insert("ask".to_owned(), name.into());
    message
}

fn request_to(name: &str, id: u64) -> Message {
    let mut message = request(name);
    message.insert("id".to_owned(), id.into());
    message
}

/// An object that holds texts.
fn texts(json: &Json) -> Result<BTreeMap<String, String>, ()> {
    let texts = json.as_object().ok_or(())?.iter();
    texts.map(|(name, text)| Ok((name.clone(), text.as_str().ok_or(())?.to_owned()))).collect()
}

fn entities(done: &Message) -> &Json {
    static NOTHING: Json = Json::Null;
    done.get("entities").unwrap_or(&NOTHING)
}
