/** Everything that the program gets from its process. `main.ts` builds it; no other file reads the environment. */
export type Shell = {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** The user's home folder, and the name of the machine. */
  home: string;
  host: string;
  platform: string;
  /** Version of this program. */
  version: string;
  now: () => number;
  /** Rejects early with the reason of the signal when it is aborted. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  stdout: Sink;
  stderr: Sink;
  stdin: Source;
  prompts: Prompts;
  /** Opens a URL in the user's browser; false if that is not possible. */
  openBrowser: (url: string) => Promise<boolean>;
  /** Calls back at each SIGINT and SIGTERM; returns a function that removes the listener. */
  onInterrupt(listener: () => void): () => void;
  setExitCode(code: number): void;
};

export type Sink = {
  isTerminal: boolean;
  /** Width of the terminal in characters; 80 when unknown. */
  columns(): number;
  /** Resolves once the reader accepts more. */
  write(text: string | Uint8Array): Promise<void>;
};

export type Source = {
  isTerminal: boolean;
  /** Yields the input chunk by chunk, as it arrives. */
  chunks(): AsyncIterable<Uint8Array>;
};

/** Questions to the user; only asked when stdin and stderr are terminals. Null: the user canceled. */
export type Prompts = {
  confirm: (question: string) => Promise<boolean | null>;
  text: (question: string) => Promise<string | null>;
  /** The typed text is not shown. */
  secret: (question: string) => Promise<string | null>;
};

/** True if questions can be asked: both ends are terminals, and no script reads the output as JSON. */
export function canPrompt(
  { stdin, stderr }: Pick<Shell, 'stdin' | 'stderr'>,
  json: boolean | undefined,
): boolean {
  return stdin.isTerminal && stderr.isTerminal && json !== true;
}
