import { wordsOfHard } from './heed-refusals.ts';
import type { LetterResult, RelayTrouble } from './record-results.ts';

/**
 * What each project heard last, in this process. Whether words are about us is judged by the letters of one project, but a
 * relay that rests serves nobody: where a few addresses of one are dead, the others go on.
 */
export type RelayWords = {
  note(results: LetterResult[]): void;
  /** Whether as many of the others as not heard these words too; also where nobody else sends. */
  isEverybodys(trouble: RelayTrouble): boolean;
};

/** Longer than a relay rests, so that who had to wait for it and was served then is asked before it rests again. */
const LATELY_MS = 60 * 60_000;

export function createRelayWords(now: () => number): RelayWords {
  /** Whoever heard something last stands at the end. `text`: null where it was no hard refusal. */
  const last = new Map<number, { text: string | null; at: number }>();

  function forget(): void {
    const since = now() - LATELY_MS;
    for (const [projectId, { at }] of last) {
      if (at >= since) break;
      last.delete(projectId);
    }
  }

  return {
    note(results) {
      for (const { letter, handed } of results) {
        // Of what was not handed over at all the relay said nothing.
        const isAnswer =
          handed.result === 'sent' || (handed.result === 'failed' && handed.bounce !== undefined);
        if (!isAnswer) continue;
        last.delete(letter.projectId);
        last.set(letter.projectId, { text: wordsOfHard(handed), at: now() });
      }
      forget();
    },
    isEverybodys({ projectId, text }) {
      forget();
      const others = [...last].filter(([other]) => other !== projectId);
      return others.filter(([, heard]) => heard.text === text).length * 2 >= others.length;
    },
  };
}
