//! An agent of the Agent Client Protocol (JSON-RPC 2.0, a frame a line, on stdin and stdout,
//! protocol version 1) that behaves, and misbehaves, as a script says.
//!
//! `scripted-agent SCRIPT.json [arguments that are only recorded]`. A wrong script ends it with
//! exit code 64 and a sentence on stderr.
//!
//! # The script
//!
//! A JSON object; every field may be left out, an unknown one is refused.
//!
//! | field | what it is |
//! |---|---|
//! | `capabilities`, `authMethods` | for the answer to `initialize` |
//! | `modes`, `configOptions` | of new and loaded sessions |
//! | `record` | path of the record: a [`Record`] a line, written before the agent reacts |
//! | `store` | folder in which sessions outlive the process |
//! | `sessionId` | id of every new session, or `{"prefix": "s-"}`: prefix and number |
//! | `pageSize` | sessions on a page of `session/list` |
//! | `on` | method → list of reactions |
//! | `onStdinEnd` | `exit` (default: exit 0 at once) or `ignore` |
//! | `onCancel` | `stop` (default) or `ignore` |
//!
//! A reaction is a list of steps, used for one call; the last of the list is used for all calls that
//! follow. Calls are counted by method, over all sessions. For `session/prompt` a reaction can also
//! be `{"match": "substring", "steps": […]}`: the first that matches goes before those in turn.
//! Notifications have reactions too. A method without a reaction behaves well.
//!
//! # Steps
//!
//! | step | what it does |
//! |---|---|
//! | `{"update": {…}}` | a `session/update` |
//! | `{"text": "…", "chunks"?, "messageId"?}` | `agent_message_chunk`s |
//! | `{"thought": "…", "chunks"?, "messageId"?}` | `agent_thought_chunk`s |
//! | `{"flood": {"count", "bytes"?, "perSecond"?, "kind"?: "text"\|"thought", "messageId"?}}` | numbered chunks, see [`script::flood_text`] |
//! | `{"tool": {"id", "title", "kind"?, "rawInput"?, "locations"?, "output"?, "rawOutput"?, "end"?}}` | `tool_call` and its updates; `end` is `completed`, `failed` or `open` |
//! | `{"echo": true}`, `{"remember": true}` | the prompt; all prompts of the session, a line each |
//! | `{"replay": true}` | the history, as `session/load` sends it by default |
//! | `{"permission": {"toolCall", "options"?, "then"?, "wait"?}}` | asks; `then` has steps for `selected:<optionId>`, `cancelled`, `error`, `default` |
//! | `{"request": {"method", "params"?, "wait"?}}` | asks anything; the answer is recorded |
//! | `{"notify": {"method", "params"?}}` | tells anything |
//! | `{"raw": "…" or [bytes], "fill"?}` | bytes as they are; with `fill`, `${id}` and `${sessionId}` are replaced |
//! | `{"rawRepeat": {"text", "times"}}` | the same many times |
//! | `{"stderr": "…", "times"?}` | text on stderr |
//! | `{"sleepMs": n}` | a pause |
//! | `{"waitFor": "cancel"}` | waits for `session/cancel` |
//! | `{"waitForFile": path}`, `{"touch": path}` | waits until a file is there; makes one |
//! | `{"exit": code}`, `{"kill": "self"}` | the end, the second by SIGKILL |
//! | `{"closeStdout": true}`, `{"closeStdin": true}` | the end of a pipe; the agent lives |
//! | `{"spawnStubborn": {"depth", "pidFile", "inheritStdio"?}}` | a chain of processes that ignore SIGTERM, SIGHUP, SIGINT and the end of stdin |
//! | `{"ignoreSignals": true}` | SIGTERM, SIGHUP and SIGINT do nothing, from the start of the process on |
//! | `{"respond": result}`, `{"error": {"code", "message", "data"?}}` | answers now; steps after it still run |
//! | `{"respondAndExit": code}` | the default answer, and the end right behind it |
//! | `{"noAnswer": true}` | no default answer |
//! | `{"late": steps}` | steps after the answer, before the session's next prompt |
//! | `{"repeat": {"times", "steps"}}` | steps many times |
//!
//! In `update`, `respond`, `data`, `toolCall`, `params`, `rawInput`, `locations` and `rawOutput` a
//! string that is nothing but `${id}` (of the current request), `${sessionId}`, `${prompt}` or
//! `${fill:<n>}` (n times `A`) is replaced.
//!
//! Without a step that answers, the default answer comes after the steps: for a prompt `end_turn`,
//! or `cancelled`. A cancel skips the steps up to the next `waitFor` `cancel` of the list, or all that
//! are left; with `onCancel` `ignore` only a `waitFor` notices it. Open requests of a cancelled prompt
//! are given up.
//!
//! # What holds always
//!
//! Prompts of different sessions run at the same time, those of one session one after the other.
//! Frames are written whole. When nobody reads stdout any more the agent exits 1, unless it ignores
//! the end of stdin. Only stdin's own end counts as such, not `closeStdin`. What was said in a session
//! is held in memory, chunks of one message as one.
//!
//! Signals are not recorded: nothing sees them without unsafe code. An agent that ignores them goes
//! through a shell at its start, with the same pid, and can be ended until it has; its record says
//! when.
//!
//! ```
//! use sepia_scripted_agent::Script;
//! use sepia_scripted_agent::steps::{exit, permission, stderr, text};
//!
//! # fn main() -> std::io::Result<()> {
//! # let folder = std::env::temp_dir();
//! let script = Script::new()
//!     .on_prompt([text("a"), permission("t", "ls").when_selected("allow_once", [text("b")]).step()])
//!     .on_prompt([text("c"), stderr("boom"), exit(3)]);
//! let path = script.write(folder)?;
//! # std::fs::remove_file(path)
//! # }
//! ```

mod agent;
mod program;
mod record;
pub mod script;
pub mod steps;

pub use agent::run;
pub use program::program_beside_tests;
pub use record::{Event, Record, read_record, received, wait_for_record};
pub use script::{Script, Step};
