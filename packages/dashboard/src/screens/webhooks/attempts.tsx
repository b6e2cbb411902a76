import type { WebhookAttempt } from '@beckon/contract/dashboard';
import { Stack, Text, Title } from '@mantine/core';
import { CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import type { ReactNode } from 'react';
import { Command, Mark, When } from '../../parts/index.ts';

/** Each attempt of a delivery with what was answered to it, the newest first. */
export function Attempts({ attempts }: { attempts: WebhookAttempt[] }): ReactNode {
  return (
    <Stack gap="sm">
      <Title order={3} size="h6">
        Attempts
      </Title>
      {attempts.length === 0 && (
        <Text size="sm" c="dimmed">
          It was not tried.
        </Text>
      )}
      {attempts.toReversed().map((attempt) => (
        <Attempt key={attempt.number} attempt={attempt} />
      ))}
    </Stack>
  );
}

function Attempt({ attempt }: { attempt: WebhookAttempt }): ReactNode {
  const { number, trigger, at, ended_at: end, url, response: answer } = attempt;
  const ms = end === null ? null : Date.parse(end) - Date.parse(at);
  return (
    <Stack gap={4}>
      <Text size="sm" component="div">
        {number}. <When at={at} style="long" /> · <Result attempt={attempt} />
        {ms !== null && ` · ${ms.toLocaleString('en-GB')} ms`}
        {trigger === 'manual' && ' · by hand'}
      </Text>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        POST {url}
      </Text>
      {answer !== null && answer !== '' && <Command text={answer} what="answer" />}
    </Stack>
  );
}

function Result({ attempt: { status, error, ended_at: end } }: { attempt: WebhookAttempt }): ReactNode {
  if (end === null) return <Mark icon={CircleDashed} tone="info" label="under way" />;
  const isTaken = status !== null && status >= 200 && status < 300;
  const label = [status, error].filter((part) => part !== null).join(' ');
  return <Mark icon={isTaken ? CircleCheck : CircleX} tone={isTaken ? 'good' : 'bad'} label={label} />;
}

/** The body, byte for byte, with the headers that change with each attempt by name alone. */
export function Posted({ body, isErased }: { body: string | null; isErased: boolean }): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        Request
      </Title>
      <Text size="xs" c="dimmed">
        Content-Type: application/json, and signed anew for each attempt: X-Service-Signature, webhook-id,
        webhook-timestamp, webhook-signature.
      </Text>
      {body === null ? (
        <Text size="sm">
          {isErased ? 'Whoever it was about is erased, and its body with them.' : 'There is no body.'}
        </Text>
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
    // What is no JSON is shown as it is.
    return body;
  }
}
