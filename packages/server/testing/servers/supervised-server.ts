import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programEnv } from './program-env.ts';

const MAIN = join(import.meta.dirname, '../../src/main/main.ts');

type Line = { event?: string; process?: string; pid?: number } & Record<string, unknown>;

/** A server of several processes, observed through its log. */
export type Supervised = {
  child: ChildProcess;
  /** All printed lines, those of the log and others. */
  output: string[];
  lines: Line[];
  /** Resolves with the first matching log line, past or future. Rejects if the server ends before. */
  line(holds: (line: Line) => boolean): Promise<Line>;
  /** The URL of the server. */
  url: Promise<string>;
  ended: Promise<number | string>;
};

export function superviseServer(env: Record<string, string>): Supervised {
  const defaults = { PORT: '0', MAIL_IN_PORT: '0', LOCAL_SHELL: 'off' };
  const options = { env: { ...programEnv(), ...defaults, ...env } };
  const child = spawn(process.execPath, [MAIN, 'serve'], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  const url = Promise.withResolvers<string>();
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => {
      url.reject(new Error(`it ended with ${code ?? signal}: ${output.join('\n')}`));
      resolve(signal ?? code ?? 0);
    });
  });
  url.promise.catch(() => {});
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (text) => {
      output.push(text);
      const ready = /^Beckon is ready at (.*)$/.exec(text)?.[1];
      if (ready) url.resolve(ready.replace('localhost', '127.0.0.1'));
      if (text.startsWith('{')) lines.push(JSON.parse(text) as Line);
      for (const look of waiting) look();
    });
  return {
    child,
    output,
    lines,
    url: url.promise,
    ended,
    line(holds) {
      const found = Promise.withResolvers<Line>();
      const look = (): void => {
        const line = lines.find(holds);
        if (line) found.resolve(line);
      };
      waiting.add(look);
      look();
      void ended.then(() => found.reject(new Error(`it ended: ${output.join('\n')}`)));
      return found.promise.finally(() => waiting.delete(look));
    },
  };
}
