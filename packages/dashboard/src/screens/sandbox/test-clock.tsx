import { Button, Menu } from '@mantine/core';
import { FastForward } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { useApi, useChange, useMay, useProject, useRefreshAll } from '../../api/index.ts';
import {
  AheadProvider,
  formatSpan,
  formatTime,
  notify,
  refused,
  useNow,
  useZone,
} from '../../parts/index.ts';

const STEPS = [
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;

const LOOK_EVERY_MS = 5_000;

/** How far this sandbox's test clock is ahead. A test can move the clock too; then everything on the page belongs to another time. */
export function useTestClock(): number {
  const { ahead_ms: knownMs } = useProject();
  const refreshAll = useRefreshAll();
  const clock = useApi('GET /projects/:project/clock', {}, { everyMs: LOOK_EVERY_MS });
  const aheadMs = clock.data?.data.ahead_ms ?? knownMs;
  useEffect(() => {
    if (aheadMs > knownMs) void refreshAll();
  }, [aheadMs, knownMs, refreshAll]);
  return knownMs;
}

/** The time of the test clock, on pages in real time too. */
export function TestTime({ aheadMs }: { aheadMs: number }): ReactNode {
  return (
    <>
      <AheadProvider ms={aheadMs}>
        <Time />
      </AheadProvider>
      {aheadMs > 0 ? `, ${formatSpan(aheadMs)} ahead` : ''}
    </>
  );
}

function Time(): ReactNode {
  const now = new Date(useNow()).toISOString();
  return <time dateTime={now}>{formatTime(now, useZone())}</time>;
}

/** The menu that advances the test clock. It only moves forward. */
export function AdvanceClock({ size = 'compact-xs' }: { size?: 'compact-xs' | 'sm' }): ReactNode {
  const mayAdvance = useMay('editor');
  const refreshAll = useRefreshAll();
  const advance = useChange('POST /projects/:project/clock', {
    onDone: ({ data: { drafts, emails } }) => {
      notify(
        `Clock advanced: ${counted(drafts, 'draft')} created, ${counted(emails, 'email')} sent to the test inbox`,
      );
      void refreshAll();
    },
    onRefused: (error) => {
      refused(error);
      void refreshAll();
    },
  });
  if (!mayAdvance) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size={size}
          variant="default"
          loading={advance.isPending}
          leftSection={<FastForward size={13} aria-hidden="true" />}
        >
          Advance clock
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {STEPS.map(([text, words]) => (
          <Menu.Item key={text} onClick={() => advance.mutate({ body: { advance: text } })}>
            {words}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
