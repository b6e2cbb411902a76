import { useEffect, useEffectEvent, useRef } from 'react';
import { useFeedState } from '../../api/index.ts';

/**
 * What happened between the reading of a page and the opening of its feed is said by nobody: what was read before the feed was
 * there is read again once it is.
 */
export function useOnLive(again: () => void): void {
  const state = useFeedState();
  const before = useRef(state);
  const run = useEffectEvent(again);
  useEffect(() => {
    if (state === 'live' && before.current !== 'live') run();
    before.current = state;
  }, [state]);
}
