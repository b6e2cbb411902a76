import type { Questions } from './shell.ts';

/** Asks on stderr, so that a pipe behind stdout reads no question. */
export function questionsAt(output: NodeJS.WriteStream): Questions {
  return {
    async confirm(message) {
      const { confirm, isCancel } = await import('@clack/prompts');
      const answer = await confirm({ message, initialValue: false, output });
      return isCancel(answer) ? null : answer;
    },
    async text(message) {
      const { text, isCancel } = await import('@clack/prompts');
      const answer = await text({ message, output });
      return isCancel(answer) ? null : answer;
    },
    async secret(message) {
      const { password, isCancel } = await import('@clack/prompts');
      const answer = await password({ message, output });
      return isCancel(answer) ? null : answer;
    },
  };
}
