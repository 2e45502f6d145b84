//! Tools that move securities and money.

use serde_json::{Value, json};

use super::calls::{Answer, Args};
use super::world::{Account, Dir, OptionTrade, Order, OrderState, Payment, Transfer, World};
use crate::builtin::tooling::{dollars, usd};

/// First number of orders placed in an episode; orders that were there before are below.
pub(super) const FIRST_ORDER: usize = 5000;

fn account_mut<'a>(world: &'a mut World, id: &str) -> Result<&'a mut Account, String> {
    world.accounts.get_mut(id).ok_or_else(|| format!("no account `{id}`"))
}

fn direction(args: &Args<'_>) -> Dir {
    if args.text("side") == "buy" { Dir::Buy } else { Dir::Sell }
}

pub(super) fn list_orders(world: &mut World, id: &str) -> Answer {
    account_mut(world, id)?;
    world.read.insert(format!("orders:{id}"));
    let orders: Vec<Value> = world
        .orders
        .iter()
        .filter(|o| o.account == id)
        .map(|o| {
            json!({
                "order_id": o.id, "side": o.side, "symbol": o.symbol, "quantity": o.quantity,
                "limit_price": o.limit.map(dollars), "state": o.state,
            })
        })
        .collect();
    Ok(json!({"account_id": id, "orders": orders}))
}

pub(super) fn place_order(world: &mut World, args: &Args<'_>) -> Answer {
    let (account_id, symbol) = (args.text("account_id"), args.text("symbol"));
    let (side, quantity) = (direction(args), args.count("quantity"));
    let limit = args.optional_amount("limit_price");
    let price = world
        .listings
        .get(symbol)
        .map(|l| l.price)
        .ok_or_else(|| format!("no security `{symbol}`"))?;
    let account = account_mut(world, account_id)?;
    let marketable = match (limit, side) {
        (None, _) => true,
        (Some(limit), Dir::Buy) => limit >= price,
        (Some(limit), Dir::Sell) => limit <= price,
    };
    // A resting order reserves nothing, but must be coverable when it is placed.
    let unit = if marketable { price } else { limit.unwrap_or(price) };
    let value = unit.saturating_mul(quantity);
    let held = account.positions.get(symbol).copied().unwrap_or(0);
    match side {
        Dir::Buy if account.cash < value => {
            return Err(format!("not enough cash: USD {} needed", usd(value)));
        }
        Dir::Sell if held < quantity => {
            return Err(format!("only {held} shares of {symbol} in {account_id}"));
        }
        _ => {}
    }
    if marketable {
        account.cash -= side.sign() * value;
        let position = held + side.sign() * quantity;
        if position == 0 {
            account.positions.remove(symbol);
        } else {
            account.positions.insert(symbol.to_owned(), position);
        }
    }
    let placed = world.orders.iter().filter(|o| o.placed_now).count();
    let order = Order {
        id: format!("O-{}", FIRST_ORDER + placed),
        account: account_id.to_owned(),
        side,
        symbol: symbol.to_owned(),
        quantity,
        limit,
        state: if marketable { OrderState::Filled } else { OrderState::Open },
        placed_now: true,
        cancelled_now: false,
    };
    let answer = json!({
        "order_id": order.id, "state": order.state, "side": side, "symbol": symbol,
        "quantity": quantity, "price": dollars(unit),
    });
    world.orders.push(order);
    Ok(answer)
}

pub(super) fn cancel_order(world: &mut World, id: &str) -> Answer {
    let order =
        world.orders.iter_mut().find(|o| o.id == id).ok_or_else(|| format!("no order `{id}`"))?;
    if order.state != OrderState::Open {
        return Err(format!("order `{id}` is not on the book any more"));
    }
    order.state = OrderState::Cancelled;
    order.cancelled_now = true;
    Ok(json!({"order_id": id, "state": order.state}))
}

pub(super) fn trade_option(world: &mut World, args: &Args<'_>) -> Answer {
    let (account_id, symbol) = (args.text("account_id"), args.text("symbol"));
    let (kind, strike) = (args.text("kind"), args.amount("strike"));
    let (side, contracts) = (direction(args), args.count("contracts"));
    let premium = world
        .listings
        .get(symbol)
        .ok_or_else(|| format!("no security `{symbol}`"))?
        .options
        .iter()
        .find(|s| s.kind == kind && s.strike == strike)
        .map(|s| s.premium)
        .ok_or_else(|| format!("no {kind} on {symbol} with strike {}", usd(strike)))?;
    let account = account_mut(world, account_id)?;
    let value = premium.saturating_mul(100 * contracts);
    if side == Dir::Buy && account.cash < value {
        return Err(format!("not enough cash: USD {} needed", usd(value)));
    }
    account.cash -= side.sign() * value;
    world.option_trades.push(OptionTrade {
        account: account_id.to_owned(),
        side,
        symbol: symbol.to_owned(),
        kind: kind.to_owned(),
        strike,
        contracts,
    });
    Ok(json!({
        "status": "filled", "side": side, "symbol": symbol, "kind": kind,
        "strike": dollars(strike), "contracts": contracts, "premium": dollars(premium),
    }))
}

fn debit(world: &mut World, id: &str, amount: i64) -> Result<(), String> {
    let account = account_mut(world, id)?;
    if account.cash < amount {
        return Err(format!(
            "not enough cash in {id}: USD {} there, USD {} needed",
            usd(account.cash),
            usd(amount)
        ));
    }
    account.cash -= amount;
    Ok(())
}

/// A bank account as stored: upper case, no blanks.
pub(super) fn plain_iban(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>().to_uppercase()
}

pub(super) fn send_payment(world: &mut World, args: &Args<'_>) -> Answer {
    let (from, amount) = (args.text("from_account"), args.amount("amount"));
    let iban = plain_iban(args.text("iban"));
    if !(12..=34).contains(&iban.len()) {
        return Err(format!("`{}` is not a bank account number", args.text("iban")));
    }
    debit(world, from, amount)?;
    let name = args.text("recipient").to_owned();
    let answer = json!({
        "status": "paid", "from_account": from, "recipient": name, "iban": iban,
        "amount": dollars(amount),
    });
    world.payments.push(Payment { from: from.to_owned(), name, iban, amount });
    Ok(answer)
}

pub(super) fn transfer_funds(world: &mut World, args: &Args<'_>) -> Answer {
    let (from, to) = (args.text("from_account"), args.text("to_account"));
    let amount = args.amount("amount");
    if from == to {
        return Err("both accounts are the same".to_owned());
    }
    account_mut(world, to)?;
    debit(world, from, amount)?;
    account_mut(world, to)?.cash += amount;
    world.transfers.push(Transfer { from: from.to_owned(), to: to.to_owned(), amount });
    Ok(json!({
        "status": "transferred", "from_account": from, "to_account": to,
        "amount": dollars(amount),
    }))
}
