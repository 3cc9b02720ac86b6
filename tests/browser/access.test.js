// Access: tokens, people, signing in.
'use strict';
const { assert, test, serve, open, lived } = require('./lib.js');

const make = async (page, name, admin) => {
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill(name);
  const box = page.getByRole('dialog').getByRole('checkbox', { name: 'Admin token' });
  if (await box.count()) await box.setChecked(admin ?? await box.isChecked());
  await page.getByRole('dialog').getByRole('button', { name: 'Make a token' }).click();
  const token = (await page.getByRole('dialog').locator('pre').innerText()).trim();
  assert.match(token, /^rk_/);
  return token;
};

test('the first token locks nobody out: it is an admin token, and the browser is signed in with it', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/); // the stream of events, which ends with the first token
  await make(page, 'laptop');
  await page.getByRole('dialog').getByText('This browser is signed in with it.').waitFor();
  await page.getByRole('cell', { name: /laptop/ }).waitFor();
  assert.equal(await page.getByText('No tokens').count(), 0);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Every request needs a token.').waitFor();
  await page.getByRole('region', { name: 'People' }).getByRole('cell', { name: 'local' }).waitFor();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.goto(`${server.url}/studio/engine?tab=settings`);
  await page.getByText('budget_tokens').waitFor();
});

test('the first token: whoever makes it without the rights of an admin is told what that costs', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/);
  await page.getByRole('button', { name: 'New token' }).click();
  const person = page.getByRole('dialog').getByRole('textbox', { name: /^Person/ });
  await person.fill('mother');
  await page.getByText('without one you are locked out').waitFor();
  assert.ok(await page.getByRole('dialog').getByRole('button', { name: 'Make a token' }).isDisabled(), 'the first one is not for somebody else');
  await person.fill('local');
  await page.getByRole('checkbox', { name: 'Admin token' }).uncheck();
  await page.getByRole('dialog').getByText('rememberd token create --admin').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Make a token' }).click();
  await page.getByRole('dialog').locator('pre').waitFor();
  await page.getByRole('cell', { name: /API token/ }).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('tokens: shown once, signed in with, signed out', async (t) => {
  const server = await lived(t, 0), page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/);
  const token = await make(page, 'laptop');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Token').fill('rk_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('cell', { name: /laptop/ }).waitFor();
  const cookie = (await page.context().cookies()).find((c) => c.name === 'rememberd_session');
  assert.ok(cookie.httpOnly && cookie.sameSite === 'Strict');
  await page.goto(`${server.url}/studio/memories`);
  await page.getByText('lives in Lisbon').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('a session whose token is revoked shows nothing more, and asks to sign in', async (t) => {
  const server = await serve(t), admin = (await server.ask('POST', '/v1/tokens', { admin: true })).json().token, headers = { authorization: `Bearer ${admin}` };
  const mine = (await server.ask('POST', '/v1/tokens', { user: 'mother' }, headers)).json();
  await server.ask('POST', '/v1/memories', { content: 'Ada keeps bees.' }, { authorization: `Bearer ${mine.token}` });
  const page = await open(t, server, '/studio/memories');
  page.expected.push(/status of 401/);
  await page.getByLabel('Token').fill(mine.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Ada keeps bees.').waitFor();
  await server.ask('DELETE', `/v1/tokens/${mine.id}`, undefined, headers);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.equal(await page.getByText('Ada keeps bees.').count(), 0);
});

// As a browser has it for a page over plain HTTP from another machine.
const overPlainHttp = (old) => {
  Object.defineProperty(navigator, 'clipboard', { value: undefined });
  Object.defineProperty(crypto, 'randomUUID', { value: undefined });
  if (!old) document.execCommand = () => false;
};

test('copying works without a clipboard for scripts, or leaves the text selected and says so', async (t) => {
  const server = await serve(t);
  for (const old of [true, false]) {
    const page = await open(t, server);
    await page.addInitScript(overPlainHttp, old);
    await page.reload();
    await page.getByRole('button', { name: 'Copy' }).click();
    if (old) {
      await page.getByText('Copied').waitFor();
    } else {
      await page.getByText('The text is selected: press Ctrl+C').waitFor();
      assert.match(await page.evaluate(() => getSelection().toString()), /^curl http/);
    }
  }
});

test('nobody looks at oneself', async (t) => {
  const server = await lived(t, 0), page = await open(t, server, '/studio/access');
  const own = page.getByRole('region', { name: 'People' }).getByRole('row').filter({ hasText: 'local' });
  await own.getByText('You', { exact: true }).waitFor();
  assert.equal(await own.getByRole('button', { name: 'Look' }).count(), 0);
});

test('without the rights of an admin the page asks for nothing that is refused', async (t) => {
  const server = await serve(t);
  const admin = (await server.ask('POST', '/v1/tokens', { admin: true })).json().token, headers = { authorization: `Bearer ${admin}` };
  const plain = (await server.ask('POST', '/v1/tokens', { name: 'plain' }, headers)).json().token;
  const page = await open(t, server);
  page.expected.push(/status of 401/);
  await page.getByLabel('Token').fill(plain);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Memory is on.').or(page.getByText('0 memories.')).first().waitFor();
  for (const at of ['/', '/studio/engine', '/studio/access']) { // a 403 on the console fails the test
    await page.goto(server.url + at);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForTimeout(300);
  }
  await page.goto(`${server.url}/studio/engine?tab=settings`);
  await page.getByText('For admins').waitFor();
});

test('an operator looks at another user, and is back with one click', async (t) => {
  const server = await serve(t), as = (token) => ({ authorization: `Bearer ${token}` });
  const admin = (await server.ask('POST', '/v1/tokens', { admin: true })).json().token;
  const bob = (await server.ask('POST', '/v1/tokens', { user: 'bob' }, as(admin))).json().token;
  await server.ask('POST', '/v1/memories', { content: 'Bob has a boat.' }, as(bob));
  const page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Token').fill(admin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('row').filter({ hasText: 'bob' }).getByRole('button', { name: 'Look' }).click();
  await page.getByText("You are viewing bob's memory.").waitFor();
  for (const at of ['Access', 'Start', 'Conversations', 'Clean up', 'Memories']) {
    await page.getByRole('link', { name: at, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: at === 'Start' ? 'See it remember' : at }).waitFor();
    await page.waitForTimeout(200);
    assert.equal(await page.getByRole('button', { name: /^(New token|Revoke|Erase|Forget|Add|Distil now)/ }).count(), 0, at);
  }
  assert.equal(await page.getByRole('button', { name: 'More', exact: true }).count(), 0, 'an export would be the own one');
  await page.getByRole('link', { name: 'Memories' }).click();
  await page.getByText('Bob has a boat.').waitFor();
  await page.getByRole('button', { name: 'Stop viewing' }).click();
  await page.getByText('Bob has a boat.').waitFor({ state: 'detached' });
  await page.getByText('Nothing is remembered yet').waitFor();
});

test('more tokens than a page shows: found by a name, and revoked with what they made; of anybody, whatever the script', async (t) => {
  const server = await serve(t), as = (token) => ({ authorization: `Bearer ${token}` });
  const made = async (body, by) => (await server.ask('POST', '/v1/tokens', body, by && as(by))).json();
  const admin = (await made({ admin: true })).token, old = (await made({ user: 'J\u00fcrgen \u7530\u4e2d', name: 'oldest' }, admin)).token;
  await made({ name: 'child' }, old);
  await server.ask('POST', '/v1/memories', { content: 'A boat called Nina.' }, as(old));
  for (let i = 0; i < 100; i++) await made({ user: `p${i}`, name: `phone ${i}` }, admin);
  const page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/);
  await page.getByLabel('Token').fill(admin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const tokens = page.getByRole('region', { name: 'Access tokens' }), people = page.getByRole('region', { name: 'People' });
  await tokens.getByRole('cell', { name: 'phone 99' }).waitFor();
  await tokens.getByRole('heading', { name: '103' }).waitFor();
  assert.equal(await tokens.getByRole('cell', { name: /^oldest/ }).count(), 0);
  await tokens.getByRole('button', { name: 'More' }).click();
  await tokens.getByRole('cell', { name: /^oldest/ }).waitFor();
  await tokens.getByLabel('Search tokens').fill('OLDEST');
  await tokens.getByRole('cell', { name: 'phone 99' }).waitFor({ state: 'detached' });
  await tokens.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByText('child').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await people.getByLabel('Search people').fill('\u7530\u4e2d');
  await people.getByRole('cell', { name: 'p1', exact: true }).waitFor({ state: 'detached' });
  await people.getByRole('button', { name: 'Look' }).click();
  await page.getByText("You are viewing J\u00fcrgen \u7530\u4e2d's memory.").waitFor();
  await page.getByRole('link', { name: 'Memories' }).click();
  await page.getByText('A boat called Nina.').waitFor();
});

test('a token that may only read is told so, and is offered nothing that is refused', async (t) => {
  const server = await serve(t), made = async (body, headers) => (await server.ask('POST', '/v1/tokens', body, headers)).json().token;
  const admin = { authorization: `Bearer ${await made({ admin: true })}` }, reads = await made({ scopes: 'read', admin: true }, admin);
  await server.ask('POST', '/v1/memories', { content: 'Ada keeps bees.' }, admin);
  const page = await open(t, server);
  page.expected.push(/status of 401/);
  await page.getByLabel('Token').fill(reads);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor({ state: 'detached' });
  for (const at of ['/', '/studio/try']) { // a 403 on the console fails the test
    await page.goto(server.url + at);
    await page.getByText('This token may not chat: it lacks the scope “chat”.').waitFor();
    assert.ok(await page.locator('[data-say]').first().isDisabled());
  }
  await page.goto(`${server.url}/studio/access`);
  await page.getByText('it lacks the scope “manage”').waitFor();
  await page.goto(`${server.url}/studio/memories`);
  await page.getByText('Ada keeps bees.').click();
  await page.getByRole('dialog', { name: 'Memory' }).getByRole('textbox', { name: 'Text' }).waitFor();
  assert.ok(await page.getByRole('dialog', { name: 'Memory' }).getByRole('textbox', { name: 'Text' }).isDisabled());
  assert.equal(await page.getByRole('button', { name: /^(Add|Forget|More)$/ }).count(), 0);
});

test('tokens: made with rights, spaces and an end, listed with them, revoked with what they made', async (t) => {
  const server = await serve(t), as = (token) => ({ authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.7' });
  const admin = (await server.ask('POST', '/v1/tokens', { admin: true, name: 'crown' })).json().token;
  const page = await open(t, server, '/studio/access'), tokens = page.getByRole('region', { name: 'Access tokens' }), dialog = page.getByRole('dialog');
  page.expected.push(/status of 401/);
  await page.getByLabel('Token').fill(admin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'New token' }).click();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('phone');
  await dialog.getByLabel('Only these spaces').fill('work, home');
  await dialog.getByLabel('Expires').fill('2099-12-31');
  for (const name of ['export', 'chat']) await dialog.getByRole('checkbox', { name, exact: true }).uncheck();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/token-new.png` });
  await dialog.getByRole('button', { name: 'Make a token' }).click();
  const phone = (await dialog.locator('pre').innerText()).trim();
  const child = (await server.ask('POST', '/v1/tokens', { name: 'watch', scopes: 'read' }, as(phone))).json();
  assert.deepEqual([child.scopes, child.spaces], ['read', 'work,home']);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.reload();
  const row = tokens.getByRole('row').filter({ hasText: 'phone' }).filter({ hasText: '203.0.113.7' });
  for (const text of ['read', 'change', 'manage', 'work', 'home']) await row.getByText(text, { exact: true }).waitFor();
  assert.equal(await row.getByText('export').count(), 0);
  assert.match(await row.innerText(), /made by crown/);
  assert.match(await row.innerText(), /2099/);
  await tokens.getByText('made by phone').waitFor();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/tokens.png`, fullPage: true });
  await row.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByText('Revoked with it is 1 token that it made: watch').waitFor();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/token-revoke.png` });
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await tokens.getByText('watch').waitFor({ state: 'detached' });
  for (const token of [phone, child.token]) assert.equal((await server.ask('GET', '/v1/me', undefined, as(token))).status, 401);
});

test('roles: an owner gives them, an operator sees who is there and changes nothing', async (t) => {
  const server = await serve(t), as = (token) => ({ authorization: `Bearer ${token}` });
  const admin = (await server.ask('POST', '/v1/tokens', { admin: true })).json().token;
  const olga = (await server.ask('POST', '/v1/tokens', { user: 'olga', admin: true }, as(admin))).json().token;
  const page = await open(t, server, '/studio/access'), people = page.getByRole('region', { name: 'People' });
  page.expected.push(/status of 40[13]/);
  const enter = async (token) => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  await enter(admin);
  await people.getByLabel('Role of local').selectOption('member');
  await page.getByRole('dialog').getByRole('button', { name: 'Member' }).click();
  await page.getByText(/last owner/).waitFor();
  await people.getByLabel('Role of olga').selectOption('operator');
  await page.waitForFunction(async () => (await (await fetch('/v1/users/olga')).json()).role === 'operator');
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/roles.png`, fullPage: true });
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await enter(olga);
  await people.getByRole('row').filter({ hasText: 'local' }).getByText('Owner').waitFor();
  assert.equal(await people.getByRole('combobox').count() + await people.getByRole('button', { name: /Look|Erase/ }).count(), 0);
  await page.goto(`${server.url}/studio/engine?tab=settings`);
  await page.getByText('budget_tokens').waitFor();
});

const signInWith = async (page, token) => {
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor({ state: 'detached' });
};
const tokenOf = async (server, body, by) => (await server.ask('POST', '/v1/tokens', body, by ? { authorization: `Bearer ${by}` } : {})).json().token;

test('who signs in behind another person, in one tab, sees no chat, draft or space of theirs', async (t) => {
  const server = await serve(t);
  await server.ask('POST', '/v1/memories', { content: 'I like tea.', space: 'home' });
  await server.ask('POST', '/v1/memories', { content: 'I like tea.' });
  const anna = await tokenOf(server, { admin: true }), bob = await tokenOf(server, { user: 'bob' }, anna);
  for (const leaves of ['by signing out', 'by a token that ends']) {
    const own = await tokenOf(server, { admin: true, name: leaves }, anna);
    const page = await open(t, server, '/studio/try');
    page.expected.push(/status of 40[14]/);
    await signInWith(page, own);
    await page.getByRole('combobox', { name: 'Space' }).selectOption('home');
    await page.getByRole('textbox', { name: 'Message' }).fill('My illness is gout.');
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByText('My illness is gout.').first().waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('and also');
    if (leaves === 'by signing out') await page.getByRole('button', { name: 'Sign out' }).click();
    else {
      const { items } = (await server.ask('GET', '/v1/tokens', undefined, { authorization: `Bearer ${anna}` })).json();
      await server.ask('DELETE', `/v1/tokens/${items.find((k) => k.name === leaves).id}`, undefined, { authorization: `Bearer ${anna}` });
      await page.getByRole('link', { name: 'Memories' }).click({ timeout: 2000 }).catch(() => undefined); // or the stream of events has told it
    }
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signInWith(page, bob);
    await page.getByRole('link', { name: 'Try' }).click();
    await page.getByText('A new chat').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '', leaves);
    assert.equal(await page.evaluate(() => sessionStorage.getItem('space')), null, leaves);
  }
});

test('more than one page of spaces; one that is erased is not chosen any more', async (t) => {
  const server = await serve(t);
  for (let i = 0; i < 60; i++) await server.ask('POST', '/v1/memories', { content: `Tea number ${i}`, space: `space-${i}` });
  const page = await open(t, server, '/studio/access'), choice = page.getByRole('combobox', { name: 'Space' });
  await page.getByRole('region', { name: 'Spaces' }).getByRole('cell', { name: 'space-9', exact: true }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Spaces' }).locator('tbody tr').count(), 60);
  await choice.selectOption('space-9');
  await page.getByRole('row', { name: 'space-9' }).getByRole('button', { name: 'Erase' }).click();
  await page.getByLabel(/space-9/).last().fill('space-9');
  await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
  await page.getByText('Erased', { exact: true }).waitFor();
  assert.notEqual(await page.evaluate(() => sessionStorage.getItem('space')), 'space-9');
});

test('a person is erased with the end users of their clients, and the question says so', async (t) => {
  const server = await serve(t), owner = await tokenOf(server, { admin: true }), bob = await tokenOf(server, { user: 'bob', acts_for: 'any' }, owner);
  await server.ask('POST', '/v1/memories', { content: 'Carl likes tea.' }, { authorization: `Bearer ${bob}`, 'x-memory-user': 'carl' });
  const page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/);
  await signInWith(page, owner);
  await page.locator('tr').filter({ has: page.getByRole('cell', { name: 'bob', exact: true }) }).getByRole('button', { name: 'Erase' }).click();
  await page.getByRole('dialog').getByText('With 1 end user of this person').waitFor();
  await page.getByRole('dialog').getByRole('textbox').fill('bob');
  await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
  await page.getByText('Erased', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'People' }).getByRole('cell', { name: 'bob', exact: true }).waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('cell', { name: 'bob/carl' }).count(), 0);
});

test('a token that may not read is refused by the page, which can then be signed in to with another', async (t) => {
  const server = await serve(t), owner = await tokenOf(server, { admin: true });
  const page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/);
  await page.getByLabel('Token').fill(await tokenOf(server, { scopes: 'chat' }, owner));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('it lacks the scope “read”').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signInWith(page, owner);
  await page.getByRole('heading', { name: 'Access', level: 1 }).waitFor();
});

test('a page whose server went away as it opened comes when the server is back', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/memories');
  page.expected.push(/ERR_FAILED/);
  await page.route('**/{v1,health}{,/**}', (r) => r.abort());
  await page.reload();
  await page.getByRole('alert').waitFor();
  await page.unroute('**/{v1,health}{,/**}');
  await page.getByRole('heading', { name: 'Memories' }).waitFor();
});

test('of more than a hundred people all can be reached', async (t) => {
  const server = await serve(t), owner = await tokenOf(server, { admin: true });
  for (let i = 0; i < 120; i++) await tokenOf(server, { user: `user-${String(i).padStart(3, '0')}` }, owner);
  const page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/);
  await signInWith(page, owner);
  await page.getByRole('cell', { name: 'user-005', exact: true }).first().waitFor();
  await page.getByRole('region', { name: 'People' }).getByRole('button', { name: 'More' }).click();
  await page.getByRole('region', { name: 'People' }).getByRole('cell', { name: 'user-119', exact: true }).waitFor();
});

test('an admin token of a member offers no change of what members may only read; a member picks from its own scopes', async (t) => {
  const server = await serve(t), owner = await tokenOf(server, { admin: true });
  const admin = await tokenOf(server, { user: 'anna', admin: true }, owner), few = await tokenOf(server, { user: 'anna', scopes: 'read,manage' }, owner);
  const page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/);
  await signInWith(page, admin);
  await page.getByText('you are anna', { exact: false }).or(page.getByText('anna').first()).first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Pause' }).count(), 0);
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await signInWith(page, few);
  await page.getByRole('button', { name: 'New token' }).click();
  assert.deepEqual(await page.getByRole('group', { name: 'May' }).getByRole('checkbox').count(), 2);
});

test('an error of whatever shape is a sentence', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/try'), box = page.getByRole('textbox', { name: 'Message' });
  page.expected.push(/status of 422/);
  for (const [json, says] of [[{ detail: [{ loc: ['model'], msg: 'no such model' }] }, 'no such model'], [{ error: { message: { detail: 'too long' } } }, 'too long'], [{ error: 'model not found' }, 'model not found']]) {
    await page.route('**/v1/chat/completions', (route) => route.fulfill({ status: 422, json }), { times: 1 });
    await box.fill('Hello');
    await box.press('Enter');
    await page.getByText(says, { exact: true }).waitFor();
    assert.equal(await box.inputValue(), 'Hello');
  }
});
