import { Button, Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { DeviceApproval } from '@beckon/contract/dashboard';
import { Ban, CircleCheck, Unlink } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/index.ts';
import { Empty, Loaded } from '../../parts/index.ts';
import { DeviceForm } from './device-form.tsx';
import { Narrow } from './narrow.tsx';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';
import { RequiredInput } from './sign-in-fields.tsx';

const route = getRouteApi('/outside/device');

/** Approves a program of the member: `beckon login` shows the code and links here. */
export function DeviceScreen(): ReactNode {
  const { code } = route.useSearch();
  return (
    <Narrow title="Approve a program">
      {code === undefined ? <CodeForm /> : <Device key={code} code={code} />}
    </Narrow>
  );
}

function Device({ code }: { code: string }): ReactNode {
  const device = useApi('GET /device/:code', { params: { code } }, { staleTimeMs: Infinity });
  if (device.error?.status === 404)
    return (
      <Empty icon={Unlink} title="Invalid code" action={<OtherCode />}>
        The code is wrong, or older than ten minutes. Request a new one in your terminal.
      </Empty>
    );
  return <Loaded query={device}>{({ data }) => <DeviceRequest approval={data} />}</Loaded>;
}

function DeviceRequest({ approval }: { approval: DeviceApproval }): ReactNode {
  switch (approval.state) {
    case 'waiting':
      return <DeviceForm approval={approval} />;
    case 'denied':
      return (
        <Empty icon={Ban} title="Denied">
          {approval.label} got no access.
        </Empty>
      );
    case 'approved':
    case 'used':
      return (
        <Empty icon={CircleCheck} title="Approved">
          {approval.label} continues automatically. You can close this page. Your profile lists its token,
          where you can revoke it.
        </Empty>
      );
    default:
      return approval.state satisfies never;
  }
}

function OtherCode(): ReactNode {
  const navigate = route.useNavigate();
  return <ActButton onClick={() => void navigate({ search: {} })}>Enter another code</ActButton>;
}

function CodeForm(): ReactNode {
  const navigate = route.useNavigate();
  const [code, setCode] = useState('');
  const submit = (): void => {
    if (code.trim() !== '') void navigate({ search: { code: code.trim() } });
  };
  return (
    <Form onSubmit={submit} gap="sm">
      <RequiredInput
        label="Code"
        description="The 8-character code in your terminal"
        placeholder="ABCD-EFGH"
        autoComplete="off"
        spellCheck={false}
        autoFocus
        value={code}
        onType={setCode}
      />
      <Group>
        <Button type="submit">Continue</Button>
      </Group>
      <Muted size="xs">
        No code yet? Run <code>npx @beckon/cli login</code> on your machine.
      </Muted>
    </Form>
  );
}
