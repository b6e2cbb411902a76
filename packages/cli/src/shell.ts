/** What the program is handed by `main`: it reads no environment by itself and owns no process. */
export type Shell = {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** The person's own folder, and the name of the machine. */
  home: string;
  host: string;
  platform: string;
  /** Of this program. */
  version: string;
  now: () => number;
  /** Ends early where the signal does, by its reason. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  stdout: Sink;
  stderr: Sink;
  stdin: Source;
  ask: Questions;
  /** Opens an address in the person's browser, where there is one; false: there is none. */
  openBrowser: (url: string) => Promise<boolean>;
  /** Calls back at each SIGINT and SIGTERM; the answer takes the listener off. */
  onInterrupt(listener: () => void): () => void;
  setExitCode(code: number): void;
};

export type Sink = {
  isTerminal: boolean;
  /** How many characters a line of the terminal has; 80 where nobody knows. */
  columns(): number;
  /** Kept once whoever reads has room again. */
  write(text: string): Promise<void>;
};

export type Source = {
  isTerminal: boolean;
  /** Piece by piece, as it comes. */
  chunks(): AsyncIterable<Uint8Array>;
};

/** Questions to the person at the terminal; only asked where both ends are one. Null: they gave up. */
export type Questions = {
  confirm: (question: string) => Promise<boolean | null>;
  text: (question: string) => Promise<string | null>;
  /** What is typed is not shown. */
  secret: (question: string) => Promise<string | null>;
};
