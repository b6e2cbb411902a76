import { useEffect, useState } from 'react';
import type { RuleChecked, RuleDocument } from '@beckon/contract/dashboard';
import { useCall } from '../../api/index.ts';
import type { Failed } from '../../parts/index.ts';
import { type FormFault, inWords } from './fault-words.ts';

const AFTER_MS = 350;

/** `document`: the one that was checked. */
type CheckedForm = Omit<RuleChecked, 'faults'> & { faults: FormFault[]; document: RuleDocument };
export type Checked = {
  /** Identifies the document as it is now. */
  key: string;
  /** The latest result. It may belong to an earlier document. */
  checked: CheckedForm | null;
  isChecking: boolean;
  /** Why this document could not be checked. */
  error: Failed | null;
  retry: () => void;
};

/** Checks a rule on the server while it is edited: its summary and its errors. The server stores nothing. */
export function useChecked(document: RuleDocument, rule: string | null): Checked {
  const call = useCall();
  const [result, setResult] = useState<{ of: string; checked: CheckedForm } | null>(null);
  const [failed, setFailed] = useState<{ of: string; error: Failed } | null>(null);
  const [retries, setRetries] = useState(0);
  const key = JSON.stringify(document);
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(() => {
      const sent = JSON.parse(key) as RuleDocument;
      const body = { document: sent, ...(rule === null ? {} : { rule }) };
      call('POST /projects/:project/rules/check', { body }, ended.signal).then(
        ({ data }) => {
          const faults = data.faults.map((fault) => inWords(fault, sent));
          setResult({ of: key, checked: { ...data, faults, document: sent } });
        },
        (error: Failed) => {
          if (!ended.signal.aborted) setFailed({ of: key, error });
        },
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
    // `call` is a new function at each render with the same behavior.
  }, [key, rule, retries]);
  const isFailed = failed?.of === key;
  return {
    key,
    checked: result?.checked ?? null,
    isChecking: result?.of !== key && !isFailed,
    error: isFailed ? failed.error : null,
    retry() {
      setFailed(null);
      setRetries(retries + 1);
    },
  };
}
