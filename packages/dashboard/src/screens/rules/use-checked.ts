import { useEffect, useState } from 'react';
import type { RuleChecked, RuleDocument } from '@beckon/contract/dashboard';
import { useCall } from '../../api/index.ts';
import { inWords } from './fault-words.ts';

const AFTER_MS = 350;

export type Checked = { checked: RuleChecked | null; isChecking: boolean };

/** Checks a rule on the server while it is edited: its summary and its errors. The server stores nothing. */
export function useChecked(document: RuleDocument, rule: string | null): Checked {
  const ask = useCall();
  const [answer, setAnswer] = useState<{ of: string; checked: RuleChecked } | null>(null);
  const asked = JSON.stringify(document);
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(() => {
      const body = { document: JSON.parse(asked) as RuleDocument, ...(rule === null ? {} : { rule }) };
      ask('POST /projects/:project/rules/check', { body }, ended.signal).then(
        ({ data }) => setAnswer({ of: asked, checked: { ...data, faults: data.faults.map(inWords) } }),
        // The next edit checks again. The banner reports an unreachable server.
        () => {},
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
    // `ask` is a new function at each render with the same behavior.
  }, [asked, rule]);
  return { checked: answer?.checked ?? null, isChecking: answer?.of !== asked };
}
