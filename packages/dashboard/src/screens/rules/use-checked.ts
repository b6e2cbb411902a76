import { useEffect, useState } from 'react';
import type { RuleChecked, RuleDocument } from '@beckon/contract/dashboard';
import { useCall } from '../../api/index.ts';
import { inWords } from './fault-words.ts';

const AFTER_MS = 350;

export type Checked = { checked: RuleChecked | null; isChecking: boolean };

/** What the server says of a rule while somebody writes it: in words, and what is wrong where. Nothing is stored. */
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
        // Whoever writes on asks again; a server that is away is told of by the shell.
        () => {},
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
    // `ask` is another function at each render, and asks the same.
  }, [asked, rule]);
  return { checked: answer?.checked ?? null, isChecking: answer?.of !== asked };
}
