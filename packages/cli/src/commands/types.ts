import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { declareEvents, WRITTEN_BY } from '../declare-events.ts';
import { usage } from '../failure.ts';
import { fileResult, readIfPresent } from '../files.ts';
import { custom, type Noun } from '../framework/declare.ts';
import { fallback, flag, text } from '../framework/options.ts';
import { count } from '../output/words.ts';

export const types: Noun = {
  name: 'types',
  help: "Generate TypeScript types of a project's events",
  commands: [
    custom('pull', {
      help: "Write a project's event names and properties as types for @beckon/client",
      routes: ['GET /projects/:project/events'],
      options: {
        out: fallback(text('--out <file>', 'File to write; - prints the types'), 'beckon-events.d.ts'),
        force: flag('--force', 'Replace a file that this command did not write'),
      },
      async run({ api, output, shell }, { out, force }) {
        const { data } = await api.call('GET /projects/:project/events', {});
        const { text: declared, events } = declareEvents(data);
        if (out === '-') return output.value(declared, () => declared.trimEnd());
        const path = resolve(shell.cwd, out);
        if (!force) await requireGenerated(path);
        await fileResult('write', path, writeFile(path, declared));
        await output.value({ path, events }, () => `Wrote types of ${count(events, 'event')} to ${out}.`);
      },
    }),
  ],
};

/** Protects a file written by hand from a command run in the wrong folder. */
async function requireGenerated(path: string): Promise<void> {
  const before = await readIfPresent(path);
  if (before === null || before.startsWith(WRITTEN_BY)) return;
  throw usage(`${path} was not written by this command. Choose another file, or pass --force.`, '--out');
}
