import type { Prompts } from './shell.ts';

type Clack = typeof import('@clack/prompts');

/** Prompts on stderr, so that a pipe behind stdout gets only the result. */
export function createPrompts(output: NodeJS.WriteStream): Prompts {
  async function prompt<T>(question: (clack: Clack) => Promise<T>): Promise<Exclude<T, symbol> | null> {
    const clack = await import('@clack/prompts');
    const answer = await question(clack);
    return clack.isCancel(answer) ? null : (answer as Exclude<T, symbol>);
  }
  return {
    confirm: (message) => prompt(({ confirm }) => confirm({ message, initialValue: false, output })),
    text: (message) => prompt(({ text }) => text({ message, output })),
    secret: (message) => prompt(({ password }) => password({ message, output })),
  };
}
