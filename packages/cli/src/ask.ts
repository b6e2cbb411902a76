import type { Questions } from './shell.ts';

type Clack = typeof import('@clack/prompts');

/** Prompts on stderr, so that a pipe behind stdout gets only the result. */
export function questionsAt(output: NodeJS.WriteStream): Questions {
  async function ask<T>(question: (clack: Clack) => Promise<T>): Promise<Exclude<T, symbol> | null> {
    const clack = await import('@clack/prompts');
    const answer = await question(clack);
    return clack.isCancel(answer) ? null : (answer as Exclude<T, symbol>);
  }
  return {
    confirm: (message) => ask(({ confirm }) => confirm({ message, initialValue: false, output })),
    text: (message) => ask(({ text }) => text({ message, output })),
    secret: (message) => ask(({ password }) => password({ message, output })),
  };
}
