import { useEffect, useRef, useState } from 'react';
import type { DefinitionPreview } from '@beckon/contract/dashboard';
import { ApiError, useCall } from '../../api/index.ts';

export type Previewed = { data: DefinitionPreview | null; error: ApiError | null; isAsking: boolean };

/** After the last letter, before it is counted. */
const AFTER_MS = 400;

/** Whom a definition means, asked anew once it has stood still; the last answer stays until the next one is there. */
export function usePreview(definition: unknown, audience: string | undefined): Previewed {
  const call = useCall();
  // It is another one with every drawing, and that is no reason to ask again.
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
