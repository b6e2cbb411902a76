import { useEffect, useRef, useState } from 'react';
import type { DefinitionPreview } from '@beckon/contract/dashboard';
import { ApiError, useCall } from '../../api/index.ts';

export type Previewed = { data: DefinitionPreview | null; error: ApiError | null; isAsking: boolean };

/** The delay between the last keystroke and the count. */
const AFTER_MS = 400;

/** Counts a definition after a pause in typing, and keeps the last result until the next one arrives. */
export function usePreview(definition: unknown, audience: string | undefined): Previewed {
  const call = useCall();
  // Its identity changes with every render, which must not cause a request.
  const latest = useRef(call);
  useEffect(() => {
    latest.current = call;
  });
  const [answer, setAnswer] = useState<Previewed>({ data: null, error: null, isAsking: true });
  const text = JSON.stringify(definition);
  useEffect(() => {
    const ended = new AbortController();
    const ask = async (): Promise<void> => {
      setAnswer((was) => ({ ...was, isAsking: true }));
      try {
        const body = {
          definition: JSON.parse(text) as unknown,
          ...(audience === undefined ? {} : { audience }),
        };
        const { data } = await latest.current(
          'POST /projects/:project/audiences/preview',
          { body },
          ended.signal,
        );
        setAnswer({ data, error: null, isAsking: false });
      } catch (error) {
        if (ended.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setAnswer((was) => ({ ...was, error, isAsking: false }));
      }
    };
    const timer = setTimeout(() => void ask(), AFTER_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [text, audience]);
  return answer;
}
