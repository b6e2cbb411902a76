import { Button, Group, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { FastForward } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { useApi, useChange, useMay, useProject, useRefreshAll } from '../api/index.ts';
import { AheadProvider, formatSpan, formatTime, refused, notify, useNow, useZone } from '../parts/index.ts';

const STEPS = [
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;

/** The time of this sandbox's test clock, and the menu that advances it. */
export function SandboxClock(): ReactNode {
  const { id, ahead_ms: aheadMs } = useProject();
  const mayAdvance = useMay('editor');
  useMovedByOthers(aheadMs);
  return (
    <Group justify="space-between" gap="xs">
      <span>
        Sandbox: no email leaves this machine. The test clock shows{' '}
        <AheadProvider ms={aheadMs}>
          <Clock />
        </AheadProvider>
        {aheadMs > 0 ? `, ${formatSpan(aheadMs)} ahead` : ''}.{' '}
        <Link to="/p/$project/test-inbox" params={{ project: String(id) }}>
          Open test inbox
        </Link>
      </span>
      {mayAdvance && <Advance />}
    </Group>
  );
}

const LOOK_EVERY_MS = 5_000;

/** A test can move the clock too. Then everything on the page belongs to another time. */
function useMovedByOthers(knownMs: number): void {
  const refreshAll = useRefreshAll();
  const clock = useApi('GET /projects/:project/clock', {}, { everyMs: LOOK_EVERY_MS });
  const aheadMs = clock.data?.data.ahead_ms ?? knownMs;
  useEffect(() => {
    if (aheadMs > knownMs) void refreshAll();
  }, [aheadMs, knownMs, refreshAll]);
}

function Clock(): ReactNode {
  const now = new Date(useNow()).toISOString();
  return <time dateTime={now}>{formatTime(now, useZone())}</time>;
}

function Advance(): ReactNode {
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
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size="compact-xs"
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
