import { Button, Group, Stack, Text } from '@mantine/core';
import { ShieldCheck, ShieldOff } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { type ApiError, useChange, useRefresh } from '../../api/index.ts';
import { Command, Mark, notify } from '../../parts/index.ts';
import { FormError } from './form-error.tsx';
import { Qr } from './qr.tsx';
import { CodeField, PasswordField } from './sign-in-fields.tsx';
import { Form } from '../../parts/form.tsx';
import { ActButton } from '../../parts/act-button.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';

type Wish = 'begin' | 'codes' | 'end';

/** Sets up or turns off the authenticator app. Each change requires the password. */
export function TwoFactor({ isOn, email }: { isOn: boolean; email: string }): ReactNode {
  const [wish, setWish] = useState<Wish | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const close = (): void => setWish(null);
  if (codes) return <BackupCodes codes={codes} onKept={() => setCodes(null)} />;
  if (wish === 'begin') return <NewApp email={email} onCancel={close} onDone={close} />;
  if (wish === 'codes')
    return (
      <PasswordPrompt
        route="POST /two-factor/backup-codes"
        action="Create new codes"
        onCancel={close}
        onDone={(result) => {
          close();
          if ('backup_codes' in result) setCodes(result.backup_codes);
        }}
      />
    );
  if (wish === 'end')
    return <PasswordPrompt route="POST /two-factor/end" action="Turn off" onCancel={close} onDone={close} />;
  return (
    <Group gap="md">
      <Mark
        icon={isOn ? ShieldCheck : ShieldOff}
        tone={isOn ? 'good' : 'quiet'}
        label={isOn ? 'Set up' : 'Not set up'}
      />
      {isOn ? (
        <>
          <ActButton onClick={() => setWish('codes')}>New backup codes</ActButton>
          <ActButton onClick={() => setWish('end')}>Turn off</ActButton>
        </>
      ) : (
        <Button onClick={() => setWish('begin')}>Set up authenticator app</Button>
      )}
    </Group>
  );
}

type PasswordRoute = 'POST /two-factor/backup-codes' | 'POST /two-factor/end';
type PasswordPromptProps = {
  route: PasswordRoute;
  action: string;
  onCancel: () => void;
  onDone: (result: { backup_codes: string[] } | { two_factor: boolean }) => void;
};

function PasswordPrompt({ route, action, onCancel, onDone }: PasswordPromptProps): ReactNode {
  const change = useChange(route, {
    refreshes: ['GET /session', 'GET /sessions'],
    onDone: ({ data }) => onDone(data),
  });
  return (
    <PasswordForm
      change={change}
      action={action}
      onCancel={onCancel}
      onPassword={(password) => change.mutate({ body: { password } })}
    />
  );
}

type PasswordFormProps = {
  change: { error: ApiError | null; isPending: boolean };
  action: string;
  onCancel: () => void;
  onPassword: (password: string) => void;
};

function PasswordForm({ change, action, onCancel, onPassword }: PasswordFormProps): ReactNode {
  const [password, setPassword] = useState('');
  const submit = (): void => onPassword(password);
  return (
    <Form onSubmit={submit} gap="sm" maw={440}>
      <PasswordField
        label="Password"
        value={password}
        onChange={setPassword}
        error={change.error}
        autoFocus
      />
      <FormError error={change.error} fields={['password']} />
      <Buttons change={change} onCancel={onCancel}>
        {action}
      </Buttons>
    </Form>
  );
}

type ButtonsProps = { change: { isPending: boolean }; onCancel: () => void; children: ReactNode };

function Buttons({ change, onCancel, children }: ButtonsProps): ReactNode {
  return (
    <Group gap="xs">
      <SubmitButton change={change}>{children}</SubmitButton>
      <ActButton onClick={onCancel}>Cancel</ActButton>
    </Group>
  );
}

type Begun = { uri: string; backup_codes: string[] };
type NewAppProps = { email: string; onCancel: () => void; onDone: () => void };

/** Setup in four steps: password, QR code, first code of the app, backup codes. */
function NewApp({ email, onCancel, onDone }: NewAppProps): ReactNode {
  const [begun, setBegun] = useState<Begun | null>(null);
  const [isOn, setOn] = useState(false);
  if (begun === null) return <BeginForm onCancel={onCancel} onBegun={setBegun} />;
  if (isOn) return <BackupCodes codes={begun.backup_codes} onKept={onDone} />;
  return <ConfirmForm uri={begun.uri} email={email} onCancel={onCancel} onOn={() => setOn(true)} />;
}

type BeginFormProps = { onCancel: () => void; onBegun: (begun: Begun) => void };

function BeginForm({ onCancel, onBegun }: BeginFormProps): ReactNode {
  const begin = useChange('POST /two-factor/begin', { onDone: ({ data }) => onBegun(data) });
  return (
    <PasswordForm
      change={begin}
      action="Next"
      onCancel={onCancel}
      onPassword={(password) => begin.mutate({ body: { password } })}
    />
  );
}

type ConfirmFormProps = { uri: string; email: string; onCancel: () => void; onOn: () => void };

function ConfirmForm({ uri, email, onCancel, onOn }: ConfirmFormProps): ReactNode {
  const [code, setCode] = useState('');
  const confirm = useChange('POST /two-factor/confirm', {
    refreshes: ['GET /sessions'],
    onDone: onOn,
  });
  const submit = (): void => confirm.mutate({ body: { code } });
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  return (
    <Form onSubmit={submit} gap="sm" maw={440}>
      <Text size="sm">Scan this with your authenticator app, or enter the key there.</Text>
      <Qr text={uri} label={`Code for the authenticator app, for ${email}`} />
      <Command text={secret} what="key" />
      <CodeField
        label="Code from the app"
        inputMode="numeric"
        value={code}
        onChange={setCode}
        error={confirm.error}
      />
      <FormError error={confirm.error} fields={['code']} />
      <Buttons change={confirm} onCancel={onCancel}>
        Turn on
      </Buttons>
    </Form>
  );
}

function BackupCodes({ codes, onKept }: { codes: string[]; onKept: () => void }): ReactNode {
  const refresh = useRefresh();
  return (
    <Stack gap="sm" maw={440}>
      <Text size="sm" role="status">
        Store these backup codes where you can find them without your phone. Each works once. They are not
        shown again.
      </Text>
      <Command text={codes.join('\n')} what="backup codes" />
      <Group>
        <Button
          onClick={() => {
            void refresh('GET /session');
            onKept();
            notify('Backup codes replaced. Older codes no longer work.');
          }}
        >
          I stored the codes
        </Button>
      </Group>
    </Stack>
  );
}
