import type { WebhookAttempt } from '@beckon/contract/dashboard';
import { Stack, Text, Title } from '@mantine/core';
import { CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import type { ReactNode } from 'react';
import { Command, Mark, When } from '../../parts/index.ts';
import { capital } from '../../parts/codes.ts';
import { responseWords } from './marks.tsx';
import { Muted } from '../../parts/muted.tsx';

/** The attempts of a delivery with their responses, the newest first. */
export function Attempts({ attempts }: { attempts: WebhookAttempt[] }): ReactNode {
  return (
    <Stack gap="sm">
      <Title order={3} size="h6">
        Attempts
      </Title>
      {attempts.length === 0 && <Muted>No attempts yet.</Muted>}
      {attempts.toReversed().map((attempt) => (
        <Attempt key={attempt.number} attempt={attempt} />
      ))}
    </Stack>
  );
}

function Attempt({ attempt }: { attempt: WebhookAttempt }): ReactNode {
  const { number, trigger, at, ended_at: end, url, response } = attempt;
  const ms = end === null ? null : Date.parse(end) - Date.parse(at);
  return (
    <Stack gap={4}>
      <Text size="sm" component="div">
        {number}. <When at={at} style="long" /> · <Result attempt={attempt} />
        {ms !== null && ` · ${ms.toLocaleString('en-GB')} ms`}
        {trigger === 'manual' && ' · manual'}
      </Text>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        POST {url}
      </Text>
      {response !== null && response !== '' && <Command text={response} what="answer" />}
    </Stack>
  );
}

function Result({ attempt: { status, error, ended_at: end } }: { attempt: WebhookAttempt }): ReactNode {
  if (end === null) return <Mark icon={CircleDashed} tone="info" label="In progress" />;
  const isSuccess = status !== null && status >= 200 && status < 300;
  const label = capital(responseWords({ status, error }));
  return <Mark icon={isSuccess ? CircleCheck : CircleX} tone={isSuccess ? 'good' : 'bad'} label={label} />;
}

/** The exact body, and the names of the headers that change with each attempt. */
export function Posted({ body, isErased }: { body: string | null; isErased: boolean }): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        Request
      </Title>
      <Muted size="xs">
        Content-Type: application/json. Signed for each attempt: X-Service-Signature, webhook-id,
        webhook-timestamp, webhook-signature.
      </Muted>
      {body === null ? (
        <Text size="sm">{isErased ? 'The user was erased, and the body with them.' : 'No body.'}</Text>
      ) : (
        <Command text={pretty(body)} what="body" />
      )}
    </Stack>
  );
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // Text that is not JSON is shown unchanged.
    return body;
  }
}
