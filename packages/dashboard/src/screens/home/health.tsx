import { Text } from '@mantine/core';
import { CircleCheck, CircleX, Inbox, TriangleAlert } from 'lucide-react';
import type { HomeHealth } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { formatSpan, Mark, type MarkProps, When } from '../../parts/index.ts';
import classes from './home.module.css';
import { TextLink } from '../../parts/text-link.tsx';
import { Muted } from '../../parts/muted.tsx';

/** The state of the project in four facts. */
export function HealthStrip({ health }: { health: HomeHealth }): ReactNode {
  const { queue, last_event: last } = health;
  return (
    <div className={classes.strip}>
      <Fact label="Processing lag">{queue.waiting === 0 ? 'None' : formatSpan(queue.oldest_ms)}</Fact>
      <Fact label="Ingest queue">
        <TextLink to="/p/$project/settings/system">
          {queue.waiting.toLocaleString('en')} / {queue.waiting_max.toLocaleString('en')}
        </TextLink>
      </Fact>
      <Fact label="Last event">
        {last === null ? (
          'None yet'
        ) : (
          <>
            <TextLink to="/p/$project/events" search={{ event: last.name }}>
              {last.name}
            </TextLink>{' '}
            <When at={last.received_at} style="relative" />
          </>
        )}
      </Fact>
      <Fact label={health.domain === null ? 'Sending' : `Sending from ${health.domain.name}`}>
        <Mark {...sendingMark(health)} />
      </Fact>
    </div>
  );
}

function sendingMark({ sender, domain }: HomeHealth): MarkProps {
  if (sender.test_inbox) return { icon: Inbox, tone: 'info', label: 'Test inbox' };
  if (sender.problem !== null) return { icon: CircleX, tone: 'bad', label: 'All emails held' };
  if (domain?.state === 'degraded')
    return { icon: TriangleAlert, tone: 'warn', label: 'DNS records need attention' };
  return { icon: CircleCheck, tone: 'good', label: 'Verified' };
}

function Fact({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <div className={classes.fact}>
      <Muted size="xs">{label}</Muted>
      <Text size="sm" fw={550} component="div" truncate>
        {children}
      </Text>
    </div>
  );
}
