import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { DeviceAsked } from '@beckon/contract/dashboard';
import { Ban, CircleCheck, Unlink } from 'lucide-react';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useApi } from '../../api/index.ts';
import { Empty, Loaded } from '../../parts/index.ts';
import { DeviceForm } from './device-form.tsx';
import { Narrow } from './narrow.tsx';

const route = getRouteApi('/outside/device');

/** Where somebody lets a program of theirs in: `beckon login` shows the code, and leads here. */
export function DeviceScreen(): ReactNode {
  const { code } = route.useSearch();
  return (
    <Narrow title="Let a program in">
      {code === undefined ? <CodeForm /> : <Device key={code} code={code} />}
    </Narrow>
  );
}

function Device({ code }: { code: string }): ReactNode {
  const device = useApi('GET /device/:code', { params: { code } }, { staleTimeMs: Infinity });
  if (device.error?.status === 404)
    return (
      <Empty icon={Unlink} title="This code is not known" action={<OtherCode />}>
        It was mistyped, or its ten minutes are over. Ask for a new one where it was shown.
      </Empty>
    );
  return <Loaded query={device}>{({ data }) => <Asked asked={data} />}</Loaded>;
}

function Asked({ asked }: { asked: DeviceAsked }): ReactNode {
  switch (asked.state) {
    case 'waiting':
      return <DeviceForm asked={asked} />;
    case 'denied':
      return (
        <Empty icon={Ban} title="Denied">
          {asked.label} got nothing.
        </Empty>
      );
    case 'approved':
    case 'used':
      return (
        <Empty icon={CircleCheck} title="Approved">
          {asked.label} goes on by itself: you can close this page. Its token stands in your profile, where
          you can revoke it.
        </Empty>
      );
    default:
      return asked.state satisfies never;
  }
}

function OtherCode(): ReactNode {
  const navigate = route.useNavigate();
  return (
    <Button variant="default" onClick={() => void navigate({ search: {} })}>
      Type another code
    </Button>
  );
}

function CodeForm(): ReactNode {
  const navigate = route.useNavigate();
  const [code, setCode] = useState('');
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (code.trim() !== '') void navigate({ search: { code: code.trim() } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Code"
          description="Eight letters, as your terminal shows them"
          placeholder="ABCD-EFGH"
          autoComplete="off"
          spellCheck={false}
          required
          withAsterisk={false}
          autoFocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit">Go on</Button>
        </Group>
        <Text size="xs" c="dimmed">
          No code yet? Run <code>npx @beckon/cli login</code> on the machine that you want to let in.
        </Text>
      </Stack>
    </form>
  );
}
