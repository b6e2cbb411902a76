import type { Command as Parser } from 'commander';
import { candidatesAfter, SCRIPTS, SHELLS } from '../completion.ts';
import { type Command, custom } from '../framework/declare.ts';
import { oneOf } from '../framework/options.ts';

/** Takes the program, because it completes every command of it. */
export function completion(program: Parser): Command {
  return custom('completion <shell> [words...]', {
    help: 'Print a script that completes commands and options in your shell',
    args: {
      shell: `One of ${SHELLS.join(', ')}`,
      words: 'Print what can follow these words; the script calls this',
    },
    async run({ output }, { shell: named, words }) {
      const shell = oneOf(named, SHELLS, 'shell');
      const found = words.length === 0 ? null : candidatesAfter(program, words);
      if (output.isJson) return output.value(found ?? SCRIPTS[shell], () => '');
      await output.raw(
        found?.map(({ word, description }) => `${word}\t${description}\n`).join('') ?? SCRIPTS[shell],
      );
    },
  });
}
