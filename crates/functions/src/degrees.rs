//! Trigonometry in degrees: exact where the result is, as at multiples of 30 and 45 degrees. A value within the first quadrant is
//! divided by the one at an end of its stretch, so that the ends come out as they should.

/// The sine of 0 to 30 degrees.
fn sin_to_30(x: f64) -> f64 {
    x.to_radians().sin() / 30f64.to_radians().sin() / 2.0
}

/// The cosine of 0 to 60 degrees.
fn cos_to_60(x: f64) -> f64 {
    1.0 - (1.0 - x.to_radians().cos()) / (1.0 - 60f64.to_radians().cos()) / 2.0
}

/// The sine of 0 to 90 degrees.
fn sin_quadrant(x: f64) -> f64 {
    if x <= 30.0 { sin_to_30(x) } else { cos_to_60(90.0 - x) }
}

/// The cosine of 0 to 90 degrees.
fn cos_quadrant(x: f64) -> f64 {
    if x <= 60.0 { cos_to_60(x) } else { sin_to_30(90.0 - x) }
}

/// The sine of degrees.
pub(crate) fn sin(x: f64) -> f64 {
    let (x, sign) = if x < 0.0 { (-x % 360.0, -1.0) } else { (x % 360.0, 1.0) };
    let (x, sign) = if x > 180.0 { (360.0 - x, -sign) } else { (x, sign) };
    sign * sin_quadrant(if x > 90.0 { 180.0 - x } else { x })
}

/// The cosine of degrees.
pub(crate) fn cos(x: f64) -> f64 {
    let x = x.abs() % 360.0;
    let x = if x > 180.0 { 360.0 - x } else { x };
    if x > 90.0 { -cos_quadrant(180.0 - x) } else { cos_quadrant(x) }
}

/// The tangent of degrees.
pub(crate) fn tan(x: f64) -> f64 {
    let (x, sign) = reduced(x);
    let at_45 = sin_quadrant(45.0) / cos_quadrant(45.0);
    let result = sign * (sin_quadrant(x) / cos_quadrant(x) / at_45);
    if result == 0.0 { 0.0 } else { result }
}

/// The cotangent of degrees.
pub(crate) fn cot(x: f64) -> f64 {
    let (x, sign) = reduced(x);
    let at_45 = cos_quadrant(45.0) / sin_quadrant(45.0);
    let result = sign * (cos_quadrant(x) / sin_quadrant(x) / at_45);
    if result == 0.0 { 0.0 } else { result }
}

/// An angle of the first quadrant whose tangent is that of another, but for its sign.
fn reduced(x: f64) -> (f64, f64) {
    let (x, sign) = if x < 0.0 { (-x % 360.0, -1.0) } else { (x % 360.0, 1.0) };
    let (x, sign) = if x > 180.0 { (360.0 - x, -sign) } else { (x, sign) };
    if x > 90.0 { (180.0 - x, -sign) } else { (x, sign) }
}

fn asin_quadrant(x: f64) -> f64 {
    match x <= 0.5 {
        true => x.asin() / 0.5f64.asin() * 30.0,
        false => 90.0 - x.acos() / 0.5f64.acos() * 60.0,
    }
}

fn acos_quadrant(x: f64) -> f64 {
    match x <= 0.5 {
        true => 90.0 - x.asin() / 0.5f64.asin() * 30.0,
        false => x.acos() / 0.5f64.acos() * 60.0,
    }
}

/// The inverse sine in degrees.
pub(crate) fn asin(x: f64) -> f64 {
    if x < 0.0 { -asin_quadrant(-x) } else { asin_quadrant(x) }
}

/// The inverse cosine in degrees.
pub(crate) fn acos(x: f64) -> f64 {
    if x < 0.0 { 90.0 + asin_quadrant(-x) } else { acos_quadrant(x) }
}

/// The inverse tangent in degrees.
pub(crate) fn atan(x: f64) -> f64 {
    x.atan() / 1f64.atan() * 45.0
}

/// The angle of the point (x, y) in degrees.
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    y.atan2(x) / 1f64.atan() * 45.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_angles_are_exact() {
        for (angle, expected) in [(0.0, 0.0), (30.0, 0.5), (90.0, 1.0), (150.0, 0.5), (-30.0, -0.5)]
        {
            assert_eq!(sin(angle), expected);
            assert_eq!(cos(90.0 - angle), expected);
        }
        assert_eq!((tan(45.0), tan(135.0), cot(45.0), tan(0.0)), (1.0, -1.0, 1.0, 0.0));
        assert_eq!((asin(0.5), acos(0.5), acos(-0.5), atan(1.0)), (30.0, 60.0, 120.0, 45.0));
        assert_eq!((sin(390.0), cos(720.0), atan2(-1.0, 0.0)), (0.5, 1.0, -90.0));
    }
}
