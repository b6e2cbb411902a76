import { useEffect, useState } from 'react';
import type { RuleChecked, RuleDocument } from '@beckon/contract/dashboard';
import { useCall } from '../../api/index.ts';
import { type FormFault, inWords } from './fault-words.ts';

const AFTER_MS = 350;

type CheckedForm = Omit<RuleChecked, 'faults'> & { faults: FormFault[] };
export type Checked = { checked: CheckedForm | null; isChecking: boolean };

/** Checks a rule on the server while it is edited: its summary and its errors. The server stores nothing. */
export function useChecked(document: RuleDocument, rule: string | null): Checked {
  const call = useCall();
  const [result, setResult] = useState<{ of: string; checked: CheckedForm } | null>(null);
  const key = JSON.stringify(document);
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(() => {
      const body = { document: JSON.parse(key) as RuleDocument, ...(rule === null ? {} : { rule }) };
      call('POST /projects/:project/rules/check', { body }, ended.signal).then(
        ({ data }) => setResult({ of: key, checked: { ...data, faults: data.faults.map(inWords) } }),
        // The next edit checks again. The banner reports an unreachable server.
        () => {},
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
    // `call` is a new function at each render with the same behavior.
  }, [key, rule]);
  return { checked: result?.checked ?? null, isChecking: result?.of !== key };
}
